import { useWords } from './words.ts'

/** A deed of the audit log in words; the address of a route that has none as it is. */
export function useActionText(): (action: string) => string {
  const t = useWords()
  return (action) => t(`audit.deed.${action.replace('.', '_') as 'key_created'}`, { defaultValue: action })
}
