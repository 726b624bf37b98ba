/**
 * One page of rows that were read with one more than `limit`: the one beyond says that there are more.
 * @param cursorOf names the last row of a page, for the page after it
 */
export function paged<T, Cursor>(
  rows: readonly T[],
  limit: number,
  cursorOf: (last: T) => Cursor,
): { page: T[]; nextCursor: Cursor | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
