import { readdirSync } from 'node:fs'

/** More than that in one folder, and a name says too little of where a thing is. */
const MOST_FILES = 18
/** Above that, others import a folder through its index.ts. */
const MOST_WITHOUT_ENTRY = 5

/** Folders below `root` that hold too many sources, or have no entry point where they need one, one line each. */
export function folderFaults(root: string, { entries }: { entries: boolean }): string[] {
  const inside = readdirSync(root, { withFileTypes: true })
  const files = inside.filter(
    ({ name }) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts') && name !== 'index.ts',
  )
  const hasEntry = inside.some(({ name }) => name === 'index.ts')
  return [
    ...(files.length > MOST_FILES ? [`${root} has ${files.length} files; at most ${MOST_FILES}`] : []),
    ...(entries && files.length > MOST_WITHOUT_ENTRY && !hasEntry
      ? [`${root} has ${files.length} files and no index.ts`]
      : []),
    ...inside
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) =>
        folderFaults(`${root}/${name}`, { entries: entries && !COMPOSITIONS.has(`${root}/${name}`) }),
      ),
  ]
}

/** One file per command: each is an entry point by itself. */
const COMPOSITIONS = new Set(['src/app', 'src/cli'])
