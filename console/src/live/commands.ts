import { useEffect } from 'react'
import { Store } from '../store.ts'

/** Something that the command palette offers. */
export interface Command {
  id: string
  title: string
  run(): void
}

/** What the pages that are shown offer. */
export const commands = new Store<readonly (readonly Command[])[]>([])

/** Offers these in the command palette while the page is shown. Give a list that stays the same between drawings. */
export function useCommands(offered: readonly Command[]): void {
  useEffect(() => {
    commands.set([...commands.get(), offered])
    return () => commands.set(commands.get().filter((list) => list !== offered))
  }, [offered])
}
