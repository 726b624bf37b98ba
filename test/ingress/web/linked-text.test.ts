import test from 'ava'
import { h } from 'preact'
import { render } from 'preact-render-to-string'
import { LinkedText } from '../../../ingress/web/shell/basics.tsx'

const shown = (text: string) => render(h(LinkedText, { text }))
const link = (address: string) => `<a href="${address}" rel="noopener noreferrer nofollow">${address}</a>`

test('URLs in a description are links without surrounding punctuation', (t) => {
  t.is(
    shown('Run book: https://wiki.example.com/a?b=c#d (see http://x.example).'),
    `Run book: ${link('https://wiki.example.com/a?b=c#d')} (see ${link('http://x.example')}).`,
  )
})

test('other text does not become a link or markup', (t) => {
  for (const text of ['javascript:alert(1)', 'ftp://x.example', 'https//x', 'data:text/html,x']) t.is(shown(text), text)
  t.notRegex(shown('https://x.example/"onclick=alert(1) <b>'), /<a [^>]*onclick|<b>/)
})
