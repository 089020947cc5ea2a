import { hkdfSync } from 'node:crypto'
import { templateError } from '../condition/index.ts'
import type { Mask, Masking } from '../sheet/index.ts'
import type { Template } from './template.ts'

/** What a project demands of every file, and the key of its hashes. */
export interface MaskRules {
  /** By column name: what is hidden, whatever a template says. */
  demanded: Readonly<Record<string, Mask>>
  /** Null: nothing can be hashed. */
  key: string | null
  /** The rows must have each column that `demanded` names: the caller has named them for these rows. */
  mustMatch?: boolean
}

/** What is to be hidden while rows are spooled: what the template asks for, and what is demanded, which wins; not what `masked` names. */
export function maskingOf(
  template: Template,
  { demanded, key }: MaskRules,
  masked: readonly string[] = [],
): Masking | null {
  const byName = new Map<string, Mask>()
  for (const { name, mask } of template.leaves) {
    if (name === null || mask === undefined) continue
    if ((byName.get(name) ?? mask) !== mask)
      throw templateError('template', `columns of the name ${name} have different masks`)
    byName.set(name, mask)
  }
  for (const [name, mask] of Object.entries(demanded)) byName.set(name, mask)
  hideAround(byName, template, demanded)
  for (const name of masked) byName.delete(name)
  if (byName.size === 0) return null
  if (key === null && [...byName.values()].includes('hash'))
    throw templateError('template', 'the mask hash needs a key (--mask-key)')
  return { byName: Object.fromEntries(byName), key: key ?? '' }
}

/**
 * A demand holds for what is inside of the value (`customer` hides `customer.phone`), and for the object that it is in. An item of a
 * list has several places, so a demand for one of them holds for all: `phones.0` hides `phones.-1`.
 */
function hideAround(
  byName: Map<string, Mask>,
  template: Template,
  demanded: Readonly<Record<string, Mask>>,
): void {
  const set = (name: string, mask: Mask) => {
    if (!Object.hasOwn(demanded, name)) byName.set(name, mask)
  }
  for (const [name, mask] of Object.entries(demanded)) {
    const meant = anyPlace(name)
    for (const leaf of template.leaves) {
      if (leaf.name === null) continue
      const shown = anyPlace(leaf.name)
      if (shown === meant || shown.startsWith(`${meant}.`)) set(leaf.name, mask)
      else if (meant.startsWith(`${shown}.`)) set(leaf.name, 'fixed')
    }
    for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1))
      set(name.slice(0, dot), 'fixed')
  }
}

function anyPlace(path: string): string {
  return path.replace(/(?<=\.)-?\d+(?=\.|$)/g, '*')
}

/** One key per project: equal values of two projects have different hashes. */
export function projectMaskKey(secret: string, projectId: string): string {
  return Buffer.from(hkdfSync('sha256', secret, projectId, 'wharf mask v1', 32)).toString('base64url')
}
