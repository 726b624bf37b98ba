/** Legal forms and particles, which say nothing of whose name it is. */
const DROPPED: ReadonlySet<string> = new Set('PRIVATE PVT LIMITED LTD LLP COMPANY CO THE M S MESSRS'.split(' '))

/**
 * How much two legal names have in common: 2000 times the common words by all words, as multisets, cut.
 * @returns null when nothing of one of them is left
 */
export function nameSimilarity(one: string, other: string): number | null {
  const [left, right] = [wordsOf(one), wordsOf(other)]
  if (left.length === 0 || right.length === 0) return null
  const counts = new Map<string, number>()
  for (const word of left) counts.set(word, (counts.get(word) ?? 0) + 1)
  let common = 0
  for (const word of right) {
    const count = counts.get(word) ?? 0
    if (count === 0) continue
    common += 1
    counts.set(word, count - 1)
  }
  return Math.floor((2000 * common) / (left.length + right.length))
}

function wordsOf(name: string): string[] {
  return name
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll('&', ' AND ')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !DROPPED.has(word))
}
