/** `1,18,000` */
export function count(value: number): string {
  return value.toLocaleString('en-IN')
}

/** `1 row`, `2 rows` */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}
