import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { catalogue, integrationKinds } from '#shared/monitoring/integrations/kinds.ts'
import { type Asset, assetOf } from './asset.ts'

/** Only Latin letters; the system's font shows all others. */
const FONTS = [
  {
    family: 'Inter Variable',
    file: import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'),
  },
  {
    family: 'JetBrains Mono Variable',
    file: import.meta.resolve('@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2'),
  },
] as const
const LINE_FOLDER = folderOf(import.meta.resolve('heroicons/24/outline/bell.svg'))
const LOGO_FOLDER = folderOf(import.meta.resolve('simple-icons/icons/github.svg'))

const LINES: Readonly<Record<string, string>> = {
  checks: 'check-circle',
  incidents: 'exclamation-triangle',
  integrations: 'bell',
  'on-call': 'lifebuoy',
  policies: 'megaphone',
  windows: 'wrench-screwdriver',
  badges: 'tag',
  'status-page': 'signal',
  keys: 'lock-closed',
  settings: 'cog-6-tooth',
  packs: 'document-check',
  identity: 'identification',
  businesses: 'building-office',
  financing: 'banknotes',
  acceptance: 'hand-thumb-up',
  trade: 'truck',
  imports: 'arrow-up-tray',
  pools: 'circle-stack',
  clients: 'key',
  agents: 'cpu-chip',
  webhooks: 'globe-alt',
  usage: 'chart-bar',
  projects: 'squares-2x2',
  members: 'users',
  audit: 'clipboard-document-list',
  account: 'user-circle',
  mute: 'bell-slash',
  acknowledged: 'hand-raised',
  exhausted: 'no-symbol',
  copy: 'square-2-stack',
  more: 'ellipsis-horizontal',
  search: 'magnifying-glass',
  down: 'chevron-down',
  book: 'book-open',
  send: 'paper-airplane',
  email: 'envelope',
  webhook: 'link',
  group: 'rectangle-group',
  sms: 'chat-bubble-left',
  call: 'phone',
  chat: 'chat-bubble-left-right',
  push: 'device-phone-mobile',
  oncall: 'lifebuoy',
}

/** Logos of services whose licence (CC0) allows their use, by kind of integration. */
const LOGOS: Readonly<Record<string, string>> = Object.fromEntries(
  [...integrationKinds.values()].flatMap(({ kind, logo }) => (logo === undefined ? [] : [[kind, logo]])),
)

export const iconNames: readonly string[] = [...Object.keys(LINES), ...Object.keys(LOGOS)]

/** Returns the logo of a kind, its line icon, or the icon of its section in the catalogue. */
export function iconOfKind(kind: string): string {
  if (Object.hasOwn(LOGOS, kind) || Object.hasOwn(LINES, kind)) return kind
  return catalogue.find(({ kinds }) => kinds.some((other) => other.kind === kind))?.icon ?? 'webhook'
}

export const fonts: readonly Asset[] = FONTS.map(({ file }) =>
  assetOf(basename(file), readFileSync(fileURLToPath(file))),
)

/** Statuses, distinguishable by shape alone, for colour-blind users. `ink` is cut out of `fill`. */
const GLYPHS: Readonly<Record<ShownStatus, { fill: string; ink: string }>> = {
  up: { fill: '<circle cx="12" cy="12" r="8"/>', ink: 'M8.5 12.2l2.4 2.4 4.6-5' },
  grace: { fill: '<path d="M12 3.6l9 16H3z"/>', ink: 'M12 9.5v4.4M12 16.6v.3' },
  down: {
    fill: '<path d="M8.7 4h6.6L20 8.7v6.6L15.3 20H8.7L4 15.3V8.7z"/>',
    ink: 'M9.2 9.2l5.6 5.6M14.8 9.2l-5.6 5.6',
  },
  paused: {
    fill: '<rect x="6" y="5" width="4.4" height="14" rx="1.2"/><rect x="13.6" y="5" width="4.4" height="14" rx="1.2"/>',
    ink: '',
  },
  new: {
    fill: '<circle cx="12" cy="12" r="7" fill="none" stroke="#000" stroke-width="2" stroke-dasharray="3.4 3"/>',
    ink: '',
  },
}
const glyphs = Object.entries(GLYPHS)

/** Wider than an icon (24 units), so that neighbours do not bleed into each other when scaled. */
const CELL = 32

/** All icons in one image, because browsers treat each separate image as a document before the first paint. */
export const icons: Asset = assetOf('icons.svg', Buffer.from(sprite()))

/**
 * Returns rules for fonts and icons. Icons are masks in the colour of the text. Addresses are relative to the style sheet.
 */
export function iconRules(): string {
  const faces = FONTS.map(
    ({ family }, index) =>
      // A late font does not shift the layout of this page; the next page uses it.
      `@font-face{font-family:"${family}";font-weight:100 900;font-display:optional;src:url(${nameOf(fonts[index])}) format("woff2")}`,
  )
  const last = iconNames.length + glyphs.length - 1
  const size = ((last * CELL + 24) / 24) * 100
  const mask = `.icon,.glyph::before,.toggle::before,.side nav a::before{mask:url(${nameOf(icons)}) var(--at,0) 0/${size}% 100% no-repeat}`
  const selectors = [...iconNames.map((name) => `.i-${name}`), ...glyphs.map(([status]) => `.glyph.${status}`)]
  return [...faces, mask, ...selectors.map((name, index) => `${name}{--at:${(index / last) * 100}%}`)].join('\n')
}

const nameOf = (asset: Asset | undefined) => basename(asset?.path ?? '')

function sprite(): string {
  const images = [
    ...Object.values(LINES).map((file) => imageOf(join(LINE_FOLDER, `${file}.svg`))),
    ...Object.values(LOGOS).map((file) => imageOf(join(LOGO_FOLDER, `${file}.svg`))),
    ...glyphs.map(([status, glyph]) => glyphImage(status, glyph)),
  ]
  const width = (images.length - 1) * CELL + 24
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 24">${images.map(placed).join('')}</svg>`
}

function imageOf(file: string): string {
  return readFileSync(file, 'utf8').replace(/<title>.*?<\/title>|\n */g, '')
}

function glyphImage(status: string, { fill, ink }: { fill: string; ink: string }): string {
  const line = `<path d="${ink}" fill="none" stroke="#000" stroke-width="2.1" stroke-linecap="round" stroke-linejoin="round"/>`
  const mask = `<mask id="${status}"><path fill="#fff" d="M0 0h24v24H0z"/>${line}</mask>`
  return `<svg viewBox="0 0 24 24">${ink === '' ? fill : `${mask}<g mask="url(#${status})">${fill}</g>`}</svg>`
}

function placed(image: string, index: number): string {
  return image.replace('<svg', `<svg x="${index * CELL}" width="24" height="24"`)
}

function folderOf(address: string): string {
  return dirname(fileURLToPath(address))
}
