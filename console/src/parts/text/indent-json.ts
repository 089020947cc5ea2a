const INDENT = '  '

/** The same JSON in lines, its keys and digits as they were written: reading and writing it anew would change both. */
export function indentJson(json: string): string {
  let depth = 0
  const line = () => `\n${INDENT.repeat(depth)}`
  return json.replace(/"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|\s+/g, (token) => {
    if (/^\s/.test(token)) return ''
    if (token === '{' || token === '[') {
      depth += 1
      return token + line()
    }
    if (token === '}' || token === ']') {
      depth -= 1
      return line() + token
    }
    if (token === ',') return token + line()
    if (token === ':') return ': '
    return token.startsWith('"') ? token : token.replace(/\s/g, '')
  })
}
