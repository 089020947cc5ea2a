/** How `pg` turns a parameter into what goes over the wire; it has no types of its own. */
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): string | Buffer | null }
  export default utils
}
