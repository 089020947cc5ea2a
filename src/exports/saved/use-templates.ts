import type { UsedTemplate } from '../request/index.ts'
import { nameInUse, type TemplateVersion } from './template-store.ts'

/** The request with the templates themselves in place of their names. */
export async function useTemplates<B extends { template?: unknown; sheets?: { template?: unknown }[] }>(
  body: B,
  find: (name: string) => Promise<TemplateVersion>,
): Promise<{ body: B; used: UsedTemplate[] }> {
  const found = new Map<string, TemplateVersion>()
  const take = async <T extends { template?: unknown }>(holder: T): Promise<T> => {
    const name = nameInUse(holder.template)
    if (name === undefined) return holder
    const known = found.get(name) ?? (await find(name))
    found.set(name, known)
    return { ...holder, template: known.template }
  }
  const whole = await take(body)
  const sheets = body.sheets && (await Promise.all(body.sheets.map(take)))
  return {
    body: { ...whole, ...(sheets && { sheets }) },
    used: [...found.values()].map(({ name, version }) => ({ name, version })),
  }
}
