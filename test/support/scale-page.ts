import { blocksOf } from './doc-blocks.ts'

/** Returns the code block of docs/scale.md that contains `part`. @throws Error unless exactly one contains it */
export function scaleBlock(part: string): string {
  const found = blocksOf('docs/scale.md').filter(({ text }) => text.includes(part))
  if (found[0] === undefined || found.length > 1)
    throw new Error(`${found.length} blocks of docs/scale.md contain ${part}`)
  return found[0].text
}

/** Returns the value of a setting in a block of settings. */
export function settingOf(block: string, name: string): string {
  const value = new RegExp(`^${name}=(.*)$`, 'm').exec(block)?.[1]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

/** Replaces documented names of machines and files by those of the test. @throws Error if the text lacks one */
export function placedHere(text: string, ownNames: Readonly<Record<string, string>>): string {
  return Object.entries(ownNames).reduce((placed, [documented, own]) => {
    if (!placed.includes(documented)) throw new Error(`docs/scale.md does not contain ${documented}`)
    return placed.replaceAll(documented, own)
  }, text)
}
