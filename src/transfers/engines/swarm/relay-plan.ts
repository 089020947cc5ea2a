export interface RelayPlanOptions {
  /** Longest chain wished for: every hop delays the last agent by one piece. */
  depth?: number
  /** Most chains that start at the source: each one takes the whole file out of it. */
  maxChains?: number
}

export const SOURCE = 'source'

/**
 * Who takes pieces from whom. Agents stand in chains, each taking from the one before; a chain's first takes from the
 * source. Agents that must hold nobody up hang as leaves at a chain's end, where the line out is free.
 */
export class RelayPlan {
  readonly #depth: number
  readonly #maxChains: number
  readonly #chains: string[][] = []
  /** Leaf and the agent it hangs at; undefined: the source. */
  readonly #leaves = new Map<string, string | undefined>()
  readonly #told = new Map<string, string>()

  constructor({ depth = 100, maxChains = 20 }: RelayPlanOptions = {}) {
    this.#depth = depth
    this.#maxChains = maxChains
  }

  has(id: string): boolean {
    return this.#leaves.has(id) || this.#chains.some((chain) => chain.includes(id))
  }

  isLeaf(id: string): boolean {
    return this.#leaves.has(id)
  }

  get heads(): string[] {
    return this.#chains.flatMap((chain) => chain.slice(0, 1))
  }

  /** Agents that relay, from the source outwards. */
  get relays(): string[] {
    return this.#chains.flat()
  }

  get size(): number {
    return this.#leaves.size + this.relays.length
  }

  /**
   * Takes an agent in at the end of a chain. A new chain is opened only when all are full: chains are filled one after
   * another, because each costs the source one more copy of the file.
   */
  add(id: string): void {
    if (this.has(id)) return
    const room = this.#chains.find((chain) => chain.length < this.#depth)
    if (room) room.push(id)
    else if (this.#chains.length < this.#maxChains) this.#chains.push([id])
    else this.#shortest().push(id)
  }

  /** Takes many in at once and evenly, so that no chain is longer than it must be. */
  addAll(ids: readonly string[]): void {
    const wanted = Math.min(this.#maxChains, Math.ceil((this.size + ids.length) / this.#depth))
    while (this.#chains.length < wanted) this.#chains.push([])
    for (const id of ids) if (!this.has(id)) this.#shortest().push(id)
  }

  /** Forgets an agent; who took from it takes from the one before it. */
  remove(id: string): void {
    this.#leaves.delete(id)
    this.#told.delete(id)
    this.#takeOut(id)
  }

  /** Makes an agent a leaf, where its pace is its own affair. */
  setAside(id: string): void {
    if (this.#leaves.has(id)) return
    const chain = this.#takeOut(id)
    this.#leaves.set(id, this.#leafHost(chain))
  }

  /** Makes an agent a leaf of the source itself: it can reach no other. */
  hangAtSource(id: string): void {
    this.#takeOut(id)
    this.#leaves.set(id, undefined)
  }

  /** Puts a leaf back into a chain, as its last. */
  restore(id: string): void {
    if (!this.#leaves.delete(id)) return
    this.add(id)
  }

  parentOf(id: string): string {
    if (this.#leaves.has(id)) return this.#leaves.get(id) ?? SOURCE
    for (const chain of this.#chains) {
      const at = chain.indexOf(id)
      if (at >= 0) return chain[at - 1] ?? SOURCE
    }
    throw new Error(`${id} is in no chain`)
  }

  childrenOf(id: string): string[] {
    const leaves = [...this.#leaves].filter(([, host]) => (host ?? SOURCE) === id).map(([leaf]) => leaf)
    if (id === SOURCE) return [...this.heads, ...leaves]
    const next = this.#chains.map((chain) => chain[chain.indexOf(id) + 1 || chain.length])
    return [...next.filter((child) => child !== undefined), ...leaves]
  }

  /** Agents whose parent is another than when this was last asked. */
  changes(): { id: string; parent: string }[] {
    const changed: { id: string; parent: string }[] = []
    const note = (id: string, parent: string) => {
      if (this.#told.get(id) === parent) return
      this.#told.set(id, parent)
      changed.push({ id, parent })
    }
    for (const chain of this.#chains) chain.forEach((id, at) => void note(id, chain[at - 1] ?? SOURCE))
    for (const [id, host] of this.#leaves) note(id, host ?? SOURCE)
    return changed
  }

  /** Makes the next `changes` name this agent again: it came back and knows nothing. */
  forget(id: string): void {
    this.#told.delete(id)
  }

  #takeOut(id: string): string[] | undefined {
    const chain = this.#chains.find((candidate) => candidate.includes(id))
    if (chain) chain.splice(chain.indexOf(id), 1)
    if (chain?.length === 0 && this.#chains.length > 1) this.#chains.splice(this.#chains.indexOf(chain), 1)
    for (const [leaf, host] of this.#leaves) if (host === id) this.#leaves.set(leaf, this.#leafHost(chain))
    return chain
  }

  /** The chain's last agents have a free line out; they share the leaves among them. */
  #leafHost(chain: string[] | undefined): string | undefined {
    const line = chain && chain.length > 0 ? chain : this.#shortest()
    const load = (id: string) => [...this.#leaves.values()].filter((host) => host === id).length
    let best: string | undefined
    for (const id of line.slice(-4).reverse()) if (best === undefined || load(id) < load(best) - 3) best = id
    return best
  }

  #shortest(): string[] {
    let shortest = this.#chains[0]
    if (!shortest) {
      shortest = []
      this.#chains.push(shortest)
    }
    for (const chain of this.#chains) if (chain.length < shortest.length) shortest = chain
    return shortest
  }
}
