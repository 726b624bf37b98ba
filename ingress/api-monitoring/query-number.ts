import { invalid } from '#shared/monitoring/alerting/fields.ts'

/** A whole number of a query; null without one. @throws ValidationError that names the field */
export function numberOf(
  query: URLSearchParams,
  name: string,
  { min, max }: { min: number; max: number },
): number | null {
  const text = query.getAll(name).at(-1)
  if (text === undefined) return null
  if (!/^[0-9]{1,20}$/.test(text)) throw invalid(name, 'is not a number')
  const value = Number(text)
  if (value < min) throw invalid(name, 'is too small')
  if (value > max) throw invalid(name, 'is too large')
  return value
}
