/** A uuid as paths, bodies and messages must write it, for patterns of routes: dashed, lower case. */
export const UUID_PATTERN = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

const UUID = new RegExp(`^${UUID_PATTERN}$`)

/** Whether the text is a uuid, dashed and in lower case, and nothing more. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
