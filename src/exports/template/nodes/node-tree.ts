import type { AppError } from '../../../kernel/index.ts'
import { counted } from '../../../kernel/index.ts'
import { templateError } from '../../condition/index.ts'
import {
  entriesOf,
  isJsonObject,
  isNothing,
  type JsonObject,
  listOf,
  memberOf,
  memberPath,
  nameOf,
  textOf,
} from '../json-shape.ts'
import { refuseUnknown } from '../known-fields.ts'

/** What a tree may be at most: `leaves` is Excel's number of columns, `depth` what a person can still read. */
export interface TreeLimits {
  depth: number
  leaves: number
}

/** A node as it was written, checked for name, title and children only. */
export interface RawNode {
  name: string | null
  title: string
  /** The node's other members. */
  settings: JsonObject
  path: string
  children: RawNode[]
}

/** Reads a list of nodes, or the short form `{name: title}`, into trees. */
export function readTrees(
  value: unknown,
  path: string,
  limits: TreeLimits,
  place: 'column' | 'row',
): RawNode[] {
  return new TreeReader(path, limits, place).read(value)
}

/** Asked before anything is made of them: each is a leaf, or an element of a list. */
export function requireFewKeys(value: JsonObject, path: string, { leaves }: TreeLimits): void {
  if (Object.keys(value).length > leaves) throw tooManyLeaves(path, path, leaves)
}

function tooManyLeaves(path: string, root: string, leaves: number): AppError {
  return templateError(path, `${root} may have ${counted(leaves, 'leaf', 'leaves')}`)
}

class TreeReader {
  readonly #root: string
  readonly #limits: TreeLimits
  readonly #place: 'column' | 'row'
  #leaves = 0

  constructor(root: string, limits: TreeLimits, place: 'column' | 'row') {
    this.#root = root
    this.#limits = limits
    this.#place = place
  }

  read(value: unknown): RawNode[] {
    if (isJsonObject(value)) requireFewKeys(value, this.#root, this.#limits)
    const list = listOf(value)
    if (list) return this.#list(list, this.#root, 1)
    // One node without a list around it; `{"name": …, "title": …}` alone would be the short form of two columns.
    if (isJsonObject(value) && listOf(memberOf(value, 'children'))) return [this.#node(value, this.#root, 1)]
    if (isJsonObject(value)) return entriesOf(value).map(([name, title]) => this.#short(name, title))
    throw templateError(this.#root, `expected a list of nodes or {name: title}, found ${nameOf(value)}`)
  }

  #short(name: string, title: unknown): RawNode {
    const path = memberPath(this.#root, name)
    if (typeof title === 'object' && title !== null) {
      throw templateError(
        path,
        `expected a title, found ${nameOf(title)}; a tree is written as a list of nodes`,
      )
    }
    this.#countLeaf(path)
    return { name: known(name), title: textOf(title, path) ?? name, settings: {}, path, children: [] }
  }

  #list(list: unknown[], path: string, depth: number): RawNode[] {
    return list.map((node, i) => this.#node(node, `${path}[${i}]`, depth))
  }

  #node(node: unknown, path: string, depth: number): RawNode {
    if (depth > this.#limits.depth)
      throw templateError(path, `a tree may be ${counted(this.#limits.depth, 'level')} deep`)
    if (!isJsonObject(node)) {
      throw templateError(path, `expected a node such as {"name": "id"}, found ${nameOf(node)}`)
    }
    const name = nameOfNode(node, path)
    const title = textOf(memberOf(node, 'title'), `${path}.title`) ?? name
    if (title === null) {
      // It may have one that is misspelt.
      refuseUnknown(node, this.#place, path)
      throw templateError(path, 'a node needs a name or a title')
    }
    const children = this.#children(memberOf(node, 'children'), `${path}.children`, depth + 1)
    if (children.length === 0) this.#countLeaf(path)
    return { name, title, settings: node, path, children }
  }

  #children(value: unknown, path: string, depth: number): RawNode[] {
    if (isNothing(value)) return []
    const list = listOf(value)
    if (!list) throw templateError(path, `expected a list of nodes, found ${nameOf(value)}`)
    return this.#list(list, path, depth)
  }

  #countLeaf(path: string): void {
    this.#leaves += 1
    if (this.#leaves > this.#limits.leaves) {
      throw tooManyLeaves(path, this.#root, this.#limits.leaves)
    }
  }
}

function nameOfNode(node: JsonObject, path: string): string | null {
  return known(textOf(memberOf(node, 'name'), `${path}.name`) ?? '')
}

/** `_` is a name that says "no name". */
function known(name: string): string | null {
  return name === '' || name === '_' ? null : name
}
