/** Column lists as text: `i.id, i.check_id, count(*) AS failures`. The types read them as `readColumns` does. */

type Trim<S extends string> = S extends ` ${infer R}` | `\n${infer R}`
  ? Trim<R>
  : S extends `${infer R} ` | `${infer R}\n`
    ? Trim<R>
    : S

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S

type NameOf<S extends string> = S extends `${string} AS ${infer Name}`
  ? Name
  : S extends `${string}.${infer Column}`
    ? Camel<Column>
    : Camel<S>

/** True for the first part of an expression that contains commas; an expression ends with its name. */
type IsOpen<S extends string> = S extends `${string} AS ${string}`
  ? false
  : S extends `${string}${'(' | "'"}${string}`
    ? true
    : false

type Once<Name, Names> = Name extends Names ? `${Name & string} (twice)` : Name

type NamesOf<S extends string, Names = never, Open extends string = ''> = S extends `${infer A},${infer R}`
  ? IsOpen<`${Open}${A}`> extends true
    ? NamesOf<R, Names, `${Open}${A},`>
    : NamesOf<R, Names | Once<NameOf<Trim<`${Open}${A}`>>, Names>>
  : Names | Once<NameOf<Trim<`${Open}${S}`>>, Names>

/** The text, if it lists each key once. Otherwise a text that no list is equal to, so that the compiler prints it. */
export type Listed<S extends string, Key, Name = NamesOf<S>> = [Exclude<Name, Key>] extends [never]
  ? [Exclude<Key, Name>] extends [never]
    ? S
    : `column missing: ${Exclude<Key, Name> & string}`
  : `column unknown: ${Exclude<Name, Key> & string}`

const TOKEN = /'[^']*'|[(),]|[^'(),]+/g
const NAMED = / AS (\w+)$/

/** Returns the names and expressions of a list. The default name is the column in camel case. */
export function readColumns(list: string): [name: string, sql: string][] {
  return splitColumns(list).map((item) => {
    const name = NAMED.exec(item)?.[1]
    if (name !== undefined) return [name, item.replace(NAMED, '')]
    const column = item.slice(item.lastIndexOf('.') + 1)
    return [column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), item]
  })
}

function splitColumns(list: string): string[] {
  const items: string[] = ['']
  let depth = 0
  for (const [token] of list.matchAll(TOKEN)) {
    if (token === '(') depth++
    if (token === ')') depth--
    if (token === ',' && depth === 0) items.push('')
    else items.push(`${items.pop()}${token}`)
  }
  return items.map((item) => item.trim())
}
