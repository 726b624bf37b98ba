import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
const MARK_FOLDER = folderOf(import.meta.resolve('simple-icons/icons/github.svg'))

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

/** Marks of services whose licence (CC0) allows their use, by kind of integration. */
const MARKS: Readonly<Record<string, string>> = Object.fromEntries(
  [...integrationKinds.values()].flatMap(({ kind, mark }) => (mark === undefined ? [] : [[kind, mark]])),
)

export const iconNames: readonly string[] = [...Object.keys(LINES), ...Object.keys(MARKS)]

/** Returns the mark of a kind, its line icon, or the icon of its section in the catalogue. */
export function iconOfKind(kind: string): string {
  if (Object.hasOwn(MARKS, kind) || Object.hasOwn(LINES, kind)) return kind
  return catalogue.find(({ kinds }) => kinds.some((other) => other.kind === kind))?.icon ?? 'webhook'
}

export const fonts: readonly Asset[] = FONTS.map(({ file }) =>
  assetOf(basename(file), readFileSync(fileURLToPath(file))),
)

/** Wider than an icon (24 units), so that neighbours do not bleed into each other when scaled. */
const CELL = 32

/** All icons in one image, because browsers treat each separate image as a document before the first paint. */
export const icons: Asset = assetOf('icons.svg', Buffer.from(sprite()))

/** Rules for fonts and icons. Icons are masks in the colour of the text. */
export function iconRules(): string {
  const faces = FONTS.map(
    ({ family }, index) =>
      // A late font does not shift the layout of this page; the next page uses it.
      `@font-face{font-family:"${family}";font-weight:100 900;font-display:optional;src:url(${fonts[index]?.path}) format("woff2")}`,
  )
  const last = iconNames.length - 1
  const size = ((last * CELL + 24) / 24) * 100
  const mask = `.icon{mask:url(${icons.path}) var(--at,0) 0/${size}% 100% no-repeat}`
  return [...faces, mask, ...iconNames.map((name, index) => `.i-${name}{--at:${(index / last) * 100}%}`)].join('\n')
}

function sprite(): string {
  const files = [
    ...Object.values(LINES).map((file) => join(LINE_FOLDER, `${file}.svg`)),
    ...Object.values(MARKS).map((file) => join(MARK_FOLDER, `${file}.svg`)),
  ]
  const width = (files.length - 1) * CELL + 24
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 24">${files.map(placed).join('')}</svg>`
}

function placed(file: string, index: number): string {
  const svg = readFileSync(file, 'utf8').replace(/<title>.*?<\/title>|\n */g, '')
  return svg.replace('<svg', `<svg x="${index * CELL}" width="24" height="24"`)
}

function folderOf(address: string): string {
  return dirname(fileURLToPath(address))
}
