/** More symbols than any alphabet here has; counts are kept above them in one word. */
const SYMBOL_BITS = 9
const keys = new Int32Array(1 << SYMBOL_BITS)
const weights = new Int32Array(2 << SYMBOL_BITS)
const parents = new Int16Array(2 << SYMBOL_BITS)

/**
 * Sets the code lengths of a Huffman code for symbols that occur `counts` times (less than 2^22 in all), none longer than
 * `limit`. A symbol that does not occur gets length 0. At least two symbols get a code: some readers refuse a code of one.
 */
export function setCodeLengths(lengths: Uint8Array, counts: Int32Array, limit: number): void {
  const used = sortSymbols(counts)
  const perLength = limited(codesPerLength(used), limit)
  lengths.fill(0)
  let next = 0
  for (let length = limit; length > 0; length -= 1) {
    for (let n = perLength[length]!; n > 0; n -= 1, next += 1)
      lengths[keys[next]! & ((1 << SYMBOL_BITS) - 1)] = length
  }
}

/** Fills `keys`, rarest symbol first, and gives how many there are. */
function sortSymbols(counts: Int32Array): number {
  let used = 0
  for (let symbol = 0; symbol < counts.length; symbol += 1)
    if (counts[symbol]! > 0) keys[used++] = (counts[symbol]! << SYMBOL_BITS) | symbol
  for (let symbol = 0; used < 2; symbol += 1)
    if (counts[symbol] === 0) keys[used++] = (1 << SYMBOL_BITS) | symbol
  keys.subarray(0, used).sort()
  return used
}

/** Builds the tree: the two lightest nodes are joined until one is left. Leaves come first, then nodes as they are made. */
function codesPerLength(leaves: number): number[] {
  for (let n = 0; n < leaves; n += 1) weights[n] = keys[n]! >>> SYMBOL_BITS
  const nodes = 2 * leaves - 1
  let leaf = 0
  let inner = leaves
  for (let made = leaves; made < nodes; made += 1) {
    weights[made] = 0
    for (let child = 0; child < 2; child += 1) {
      const isLeaf = leaf < leaves && (inner === made || weights[leaf]! <= weights[inner]!)
      const lightest = isLeaf ? leaf++ : inner++
      weights[made]! += weights[lightest]!
      parents[lightest] = made
    }
  }
  const perLength: number[] = []
  // From here on weights are depths.
  weights[nodes - 1] = 0
  for (let node = nodes - 2; node >= 0; node -= 1) {
    const depth = weights[parents[node]!]! + 1
    weights[node] = depth
    if (node < leaves) perLength[depth] = (perLength[depth] ?? 0) + 1
  }
  return perLength
}

/**
 * How many codes there are of each length once none is longer than `limit`. Codes cut short take more of the code space
 * than there is; lengthening the longest of the others gives it back, one unit a step.
 */
function limited(perLength: number[], limit: number): number[] {
  const counts = new Array<number>(limit + 1).fill(0)
  perLength.forEach((count, length) => {
    counts[Math.min(length, limit)]! += count
  })
  let space = counts.reduce((sum, count, length) => sum + count * 2 ** (limit - length), 0)
  for (; space > 2 ** limit; space -= 1) {
    let length = limit - 1
    while (counts[length] === 0) length -= 1
    // A leaf becomes a node that holds itself and one of the longest codes.
    counts[length]! -= 1
    counts[length + 1]! += 2
    counts[limit]! -= 1
  }
  return counts
}

/** Sets each symbol's code, first bit lowest as deflate sends it, shifted left by 4, and its length below that. */
export function setCodes(codes: Int32Array, lengths: Uint8Array): void {
  const next = new Int32Array(17)
  for (let n = 0; n < lengths.length; n += 1) if (lengths[n]! > 0) next[lengths[n]! + 1]! += 1
  for (let length = 1; length <= 16; length += 1) next[length] = (next[length]! + next[length - 1]!) << 1
  for (let n = 0; n < lengths.length; n += 1) {
    const length = lengths[n]!
    codes[n] = length === 0 ? 0 : (reverse(next[length]!, length) << 4) | length
    next[length]! += 1
  }
}

function reverse(code: number, length: number): number {
  let result = 0
  for (let n = 0; n < length; n += 1) result |= ((code >>> n) & 1) << (length - 1 - n)
  return result
}
