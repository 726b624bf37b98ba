import test from 'ava'
import { renderMail } from '#shared/delivery/mail-frame.ts'

const content = {
  siteName: 'Signals & Co',
  headline: '"backup" is <DOWN>',
  tone: 'down',
  sections: [
    { kind: 'text', text: 'The check went down.' },
    {
      kind: 'buttons',
      buttons: [
        { label: 'Open the check', url: 'https://signals.example/checks/1?a=1&b=2' },
        { label: 'Acknowledge', url: 'https://signals.example/a/2' },
      ],
    },
    { kind: 'facts', facts: [{ label: 'Project', value: '<b>Acme</b>' }] },
    { kind: 'facts', facts: [] },
    {
      kind: 'list',
      title: 'Checks',
      lines: [{ text: 'a "b"', url: 'https://signals.example/checks/3' }, { text: 'c' }],
    },
    { kind: 'list', title: 'Empty', lines: [] },
    { kind: 'quote', title: 'Body', text: '<script>alert(1)</script>' },
    { kind: 'text', text: '' },
  ],
  unsubscribe: 'https://signals.example/u?x=1&y=2',
} as const

test('both alternatives of a mail have the same words and links, escaped in HTML', (t) => {
  const { text, html } = renderMail(content)
  const body = html.slice(html.indexOf('<body'))
  const shown = body.replace(/<[^>]+>/g, ' ').replace(/&(amp|lt|gt|quot|#39);/g, (entity) => decoded[entity] ?? '')
  const words = (part: string) => new Set(part.match(/[\p{L}\p{N}"<>/()&]+/gu))
  for (const word of words(text.replace(/https:\S+/g, ''))) t.true(shown.includes(word), word)
  const links = [...body.matchAll(/href="([^"]+)"/g)].map(([, url]) => url?.replaceAll('&amp;', '&'))
  t.deepEqual(links.toSorted(), [...text.matchAll(/https:\S+/g)].map(([url]) => url).toSorted())
  t.false(/<script|<b>/.test(body))
  t.false(text.includes('Empty') || body.includes('Empty'))
})

const decoded: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

/** WCAG 2.2 contrast ratio of two colours such as #1b1f24. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string) => {
    const integration = (at: number) => {
      const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    }
    return 0.2126 * integration(1) + 0.7152 * integration(3) + 0.0722 * integration(5)
  }
  const [bright, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a) as [number, number]
  return (bright + 0.05) / (dark + 0.05)
}

test('texts of a mail have a contrast of at least 4.5 in both themes', (t) => {
  const { html } = renderMail(content)
  const rule = (name: string, property: string) =>
    new RegExp(`\\.${name}[^{}]*\\{[^}]*\\b${property}:(#\\w{6})`).exec(html)?.[1] ?? ''
  const inline = (name: string, property: string) =>
    new RegExp(`class="[^"]*\\b${name}\\b[^"]*"[^>]* style="[^"]*(?<![-\\w])${property}:(#\\w{6})`).exec(html)?.[1] ??
    ''
  for (const read of [rule, inline])
    for (const background of ['card', 'page'] as const)
      for (const name of ['text', 'soft'] as const) {
        const ratio = contrast(read(name, 'color'), read(background, 'background'))
        t.true(ratio >= 4.5, `${name} on ${background}: ${ratio}`)
      }
  for (const tone of ['down', 'up', 'neutral'] as const) {
    const fill = /background:(#\w{6});color:#ffffff/.exec(renderMail({ ...content, tone }).html)?.[1] ?? ''
    t.true(contrast(fill, '#ffffff') >= 4.5, tone)
  }
})
