export interface RelayPlanOptions {
  /** Longest chain wished for: every hop delays the last agent by one piece. */
  depth?: number
  /** Most chains that start at the source: each one takes the whole file out of it. */
  maxChains?: number
}

export const SOURCE = 'source'

/**
 * Who takes pieces from whom. Agents stand in chains, each taking from the one before; a chain's first takes from the
 * source. Agents that must hold nobody up hang as leaves at a chain's end, where the line out is free. Every question
 * is answered in the time of one chain at most: they are asked for thousands of agents, several times per second.
 */
export class RelayPlan {
  readonly #depth: number
  readonly #maxChains: number
  readonly #chains: string[][] = []
  readonly #chainOf = new Map<string, string[]>()
  /** Leaf and what it hangs at: an agent, or the source. */
  readonly #leaves = new Map<string, string>()
  readonly #leavesAt = new Map<string, Set<string>>()
  readonly #told = new Map<string, string>()
  /** Agents whose parent may differ from the one in their last message. */
  readonly #touched = new Set<string>()

  constructor({ depth = 100, maxChains = 20 }: RelayPlanOptions = {}) {
    this.#depth = depth
    this.#maxChains = maxChains
  }

  has(id: string): boolean {
    return this.#leaves.has(id) || this.#chainOf.has(id)
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
    return this.#leaves.size + this.#chainOf.size
  }

  /**
   * Takes an agent in at the end of a chain. A new chain is opened only when all are full: chains are filled one after
   * another, because each costs the source one more copy of the file.
   */
  add(id: string): void {
    if (this.has(id)) return
    const room = this.#chains.find((chain) => chain.length < this.#depth)
    if (room) this.#append(room, id)
    else if (this.#chains.length < this.#maxChains) this.#append(this.#newChain(), id)
    else this.#append(this.#shortest(), id)
  }

  /** Takes many in at once and evenly, so that no chain is longer than it must be. */
  addAll(ids: readonly string[]): void {
    const wanted = Math.min(this.#maxChains, Math.ceil((this.size + ids.length) / this.#depth))
    while (this.#chains.length < wanted) this.#newChain()
    for (const id of ids) if (!this.has(id)) this.#append(this.#shortest(), id)
  }

  /** Forgets an agent; who took from it takes from the one before it. */
  remove(id: string): void {
    this.#unhang(id)
    this.#takeOut(id)
    this.#told.delete(id)
    this.#touched.delete(id)
  }

  /** Makes an agent a leaf, where its pace is its own affair. */
  setAside(id: string): void {
    if (this.#leaves.has(id)) return
    const chain = this.#takeOut(id)
    this.#hang(id, this.#leafHost(chain))
  }

  /** Makes an agent a leaf of the source itself: it can reach no other. */
  hangAtSource(id: string): void {
    this.#takeOut(id)
    this.#hang(id, SOURCE)
  }

  /** Puts a leaf back into a chain, as its last. */
  restore(id: string): void {
    if (this.#unhang(id)) this.add(id)
  }

  parentOf(id: string): string {
    const host = this.#leaves.get(id)
    if (host !== undefined) return host
    const chain = this.#chainOf.get(id)
    if (!chain) throw new Error(`${id} is in no chain`)
    return chain[chain.indexOf(id) - 1] ?? SOURCE
  }

  childrenOf(id: string): string[] {
    const leaves = this.#leavesAt.get(id) ?? []
    if (id === SOURCE) return [...this.heads, ...leaves]
    const chain = this.#chainOf.get(id)
    const next = chain?.[chain.indexOf(id) + 1]
    return next === undefined ? [...leaves] : [next, ...leaves]
  }

  /** Agents whose parent is another than when this was last asked. */
  changes(): { id: string; parent: string }[] {
    const changed: { id: string; parent: string }[] = []
    for (const id of this.#touched) {
      const parent = this.parentOf(id)
      if (this.#told.get(id) === parent) continue
      this.#told.set(id, parent)
      changed.push({ id, parent })
    }
    this.#touched.clear()
    return changed
  }

  /** Makes the next `changes` name this agent again: it came back and knows nothing. */
  forget(id: string): void {
    this.#told.delete(id)
    if (this.has(id)) this.#touched.add(id)
  }

  #append(chain: string[], id: string): void {
    chain.push(id)
    this.#chainOf.set(id, chain)
    this.#touched.add(id)
  }

  #takeOut(id: string): string[] | undefined {
    const chain = this.#chainOf.get(id)
    if (chain) {
      const at = chain.indexOf(id)
      chain.splice(at, 1)
      this.#chainOf.delete(id)
      const behind = chain[at]
      if (behind !== undefined) this.#touched.add(behind)
      if (chain.length === 0 && this.#chains.length > 1) this.#chains.splice(this.#chains.indexOf(chain), 1)
    }
    for (const leaf of [...(this.#leavesAt.get(id) ?? [])]) this.#hang(leaf, this.#leafHost(chain))
    return chain
  }

  #hang(leaf: string, host: string): void {
    this.#unhang(leaf)
    this.#leaves.set(leaf, host)
    const beside = this.#leavesAt.get(host)
    if (beside) beside.add(leaf)
    else this.#leavesAt.set(host, new Set([leaf]))
    this.#touched.add(leaf)
  }

  #unhang(leaf: string): boolean {
    const host = this.#leaves.get(leaf)
    if (host === undefined) return false
    this.#leaves.delete(leaf)
    const beside = this.#leavesAt.get(host)
    beside?.delete(leaf)
    if (beside?.size === 0) this.#leavesAt.delete(host)
    return true
  }

  /** The chain's last agents have a free line out; they share the leaves among them. */
  #leafHost(chain: string[] | undefined): string {
    const line = chain && chain.length > 0 ? chain : this.#shortest()
    const load = (id: string) => this.#leavesAt.get(id)?.size ?? 0
    let best: string | undefined
    for (const id of line.slice(-4).reverse()) if (best === undefined || load(id) < load(best) - 3) best = id
    return best ?? SOURCE
  }

  #shortest(): string[] {
    let shortest = this.#chains[0] ?? this.#newChain()
    for (const chain of this.#chains) if (chain.length < shortest.length) shortest = chain
    return shortest
  }

  #newChain(): string[] {
    const chain: string[] = []
    this.#chains.push(chain)
    return chain
  }
}
