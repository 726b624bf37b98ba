/** All rows of a table have the same members. */
export type Row = Record<string, string | number>

export function printTable(title: string, rows: readonly Row[]): void {
  const columns = Object.keys(rows[0] ?? {})
  console.log(`\n### ${title}\n`)
  console.log(`| ${columns.join(' | ')} |`)
  console.log(`|${columns.map((_, index) => (index === 0 ? '---' : '---:')).join('|')}|`)
  for (const row of rows) console.log(`| ${columns.map((column) => row[column]).join(' | ')} |`)
}
