/** What people know a check by: its name, else the beginning of its uuid. */
export function nameOf(check: { name: string; uuid: string }): string {
  return check.name.trim() === '' ? `unnamed ${check.uuid.slice(0, 8)}` : check.name
}
