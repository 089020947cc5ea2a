import type {
  KeyView,
  NewKey,
  NewKeyView,
  NewProjectView,
  ProjectView,
  Rotated,
  Rotation,
} from '../../tenancy/index.ts'

/** What an operator does with projects and keys, at a running server or in the ledger itself. */
export interface ProjectAdmin {
  createProject(name: string): Promise<NewProjectView>
  projects(): Promise<ProjectView[]>
  rotate(projectId: string, rotation: Required<Rotation>): Promise<Rotated>
  deleteProject(projectId: string): Promise<void>
  createKey(projectId: string, key: NewKey): Promise<NewKeyView>
  keys(projectId: string): Promise<KeyView[]>
  revokeKey(projectId: string, keyId: string): Promise<void>
  close(): Promise<void>
}
