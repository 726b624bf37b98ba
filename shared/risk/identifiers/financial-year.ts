/**
 * The Indian financial year, April to March, as `YYYY-YY`.
 * @param date `YYYY-MM-DD`, already in Indian time
 */
export function financialYear(date: string): string {
  const year = Number(date.slice(0, 4))
  const start = Number(date.slice(5, 7)) >= 4 ? year : year - 1
  return `${start}-${String((start + 1) % 100).padStart(2, '0')}`
}
