export interface XmlNode {
  name: string
  attributes: Record<string, string>
  children: XmlNode[]
  text: string
}

const TOKEN = /<(\/?)([\w:]+)((?:\s+[\w:]+="[^"]*")*)\s*(\/?)>|<\?[^>]*\?>|([^<]+)/g
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' }

/** Markup as Wharf writes it, which has no comments, no sections and no entities but the usual. */
export function parseXml(xml: string): XmlNode {
  const root: XmlNode = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  for (const [, closes, name, attributes, alone, text] of xml.matchAll(TOKEN)) {
    const parent = open.at(-1)!
    if (text !== undefined) parent.text += unescaped(text)
    else if (closes) open.pop()
    else if (name !== undefined) {
      const node = { name, attributes: attributesOf(attributes ?? ''), children: [], text: '' }
      parent.children.push(node)
      if (!alone) open.push(node)
    }
  }
  return root.children[0] ?? root
}

export function childOf(node: XmlNode | undefined, name: string): XmlNode | undefined {
  return node?.children.find((child) => child.name === name)
}

/** All text below a node. */
export function textOf(node: XmlNode): string {
  return node.text + node.children.map(textOf).join('')
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/([\w:]+)="([^"]*)"/g), ([, name, value]) => [name!, unescaped(value!)]),
  )
}

function unescaped(text: string): string {
  return text.replace(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}
