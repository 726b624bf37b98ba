import { blocksOf } from './doc-blocks.ts'

/** The block of docs/scale.md that holds a text, as an operator copies it. @throws Error unless it is one */
export function scaleBlock(holding: string): string {
  const found = blocksOf('docs/scale.md').filter(({ text }) => text.includes(holding))
  if (found[0] === undefined || found.length > 1)
    throw new Error(`${found.length} blocks of docs/scale.md hold ${holding}`)
  return found[0].text
}

/** The values of one of them in a block of settings. */
export function settingOf(block: string, name: string): string {
  const value = new RegExp(`^${name}=(.*)$`, 'm').exec(block)?.[1]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

/** The same with names of machines and files as they are here. @throws Error when one of those is not in it */
export function placedHere(text: string, here: Readonly<Record<string, string>>): string {
  return Object.entries(here).reduce((placed, [there, own]) => {
    if (!placed.includes(there)) throw new Error(`docs/scale.md does not contain ${there}`)
    return placed.replaceAll(there, own)
  }, text)
}
