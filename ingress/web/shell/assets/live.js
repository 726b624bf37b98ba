// Keeps an open page true: it reads itself again when the service says that something changed, when time alone changes
// it, and after a form was sent from within it; and it says so when it cannot. Works row by row: what has not changed is
// not touched, so focus, ticks and open parts stay.

const page = document.documentElement
const POLL_MS = 30_000
const RETRY_MS = 2_000
const MAX_WAIT_MS = 10_000
const MISSES_UNTIL_TOLD = 2

/** What belongs to the person, not to the service. */
function isKept(element, name) {
  if (name === 'open') return element.localName === 'details'
  return name === 'hidden' && element.matches('[data-copy], [data-scripted]')
}

function morphAttributes(from, to) {
  for (const { name } of [...from.attributes])
    if (!to.hasAttribute(name) && !isKept(from, name)) from.removeAttribute(name)
  for (const { name, value } of [...to.attributes])
    if (from.getAttribute(name) !== value && !isKept(from, name)) from.setAttribute(name, value)
}

const isSame = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id ?? '') === (b.id ?? '')

/** Makes `from` look as `to`; elements with an id are recognised wherever they move. */
function morph(from, to) {
  if (from.isEqualNode(to)) return
  if (from.nodeType !== Node.ELEMENT_NODE) {
    from.nodeValue = to.nodeValue
    return
  }
  if (from.matches('.copied')) return
  morphAttributes(from, to)
  const known = new Map([...from.children].filter(({ id }) => id !== '').map((child) => [child.id, child]))
  let cursor = from.firstChild
  for (const wanted of [...to.childNodes]) {
    const found = wanted.id ? known.get(wanted.id) : cursor && isSame(cursor, wanted) ? cursor : null
    if (!found) from.insertBefore(document.importNode(wanted, true), cursor)
    else {
      if (found === cursor) cursor = cursor.nextSibling
      else from.insertBefore(found, cursor)
      morph(found, wanted)
    }
  }
  while (cursor) {
    const next = cursor.nextSibling
    cursor.remove()
    cursor = next
  }
}

/** Shows what a freshly read page says. */
function show(text) {
  const fresh = new DOMParser().parseFromString(text, 'text/html')
  // The parts around the list are not regions, so the page that waited for the first check is loaded as a whole.
  if (document.querySelector('[data-first-ping]') && !fresh.querySelector('[data-first-ping]')) {
    location.replace(`${location.pathname}?done=first-ping`)
    return
  }
  const focused = document.activeElement
  for (const region of document.querySelectorAll('[data-region]')) {
    const replacement = fresh.querySelector(`[data-region="${region.dataset.region}"]`)
    if (replacement) morph(region, replacement)
  }
  if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true })
  document.title = fresh.title
  // What was waited for is there: nothing changes any more.
  if (poll && fresh.documentElement.dataset.poll === undefined) clearInterval(polling)
  const icon = document.querySelector('link[rel=icon]')
  const wanted = fresh.querySelector('link[rel=icon]')
  if (wanted && icon.href !== wanted.href) icon.href = wanted.href
  document.dispatchEvent(new CustomEvent('page:shown'))
  awaitTurn()
}

const { live, poll } = page.dataset
let polling = 0
let readAt = new Date()
let misses = 0

const clock = (date) => date.toLocaleTimeString('en-GB')

/** @param {string | null} text what keeps this page from being true; null when nothing does */
function tell(text, link) {
  const bar = document.querySelector('#connection')
  if (!bar) return
  page.toggleAttribute('data-stale', text !== null)
  if (text === null) {
    bar.hidden = true
    return
  }
  const words = `${text} What you see is from ${clock(readAt)}.`
  if (bar.firstChild?.nodeValue !== words) bar.replaceChildren(words)
  if (link && !bar.querySelector('a')) {
    const anchor = document.createElement('a')
    anchor.href = link
    anchor.textContent = 'Sign in again'
    bar.append(' ', anchor)
  }
  bar.hidden = false
}

async function read() {
  const answer = await fetch(location.href, { credentials: 'same-origin', signal: AbortSignal.timeout(MAX_WAIT_MS) })
  if (answer.redirected && new URL(answer.url).pathname.endsWith('/sign-in')) {
    misses = MISSES_UNTIL_TOLD
    tell('You are signed out.', answer.url)
    return
  }
  if (!answer.ok) throw new Error(String(answer.status))
  const text = await answer.text()
  readAt = new Date()
  misses = 0
  tell(null)
  show(text)
}

let retry = 0
let isDue = false
let isRunning = false

async function run() {
  if (isRunning || document.hidden) {
    isDue = true
    return
  }
  isRunning = true
  isDue = false
  try {
    await read()
  } catch {
    misses += 1
    if (misses >= MISSES_UNTIL_TOLD) tell(`Not connected since ${clock(readAt)}.`)
    clearTimeout(retry)
    retry = setTimeout(run, RETRY_MS)
  } finally {
    isRunning = false
    page.dataset.refreshed = String(Number(page.dataset.refreshed ?? 0) + 1)
    if (isDue) setTimeout(run, 500)
  }
}

let turn = 0

/** Time alone makes checks late and takes them down: the page says when the next of its rows turns. */
function awaitTurn() {
  clearTimeout(turn)
  const turns = [...document.querySelectorAll('[data-turns]')].map(({ dataset }) => Date.parse(dataset.turns))
  const next = Math.min(...turns.filter((at) => at > Date.now()))
  if (next - Date.now() < POLL_MS) turn = setTimeout(run, next - Date.now() + 1_000)
}

function listen(address) {
  const events = new EventSource(address)
  events.addEventListener('changed', run)
  events.addEventListener('open', () => {
    page.dataset.watching = 'yes'
    if (misses > 0) void run()
  })
  events.addEventListener('error', () => {
    void run()
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, POLL_MS, address)
  })
  addEventListener('pagehide', () => events.close())
}

/** The last short message can be taken back, by the form that came with it. */
function addUndo(form) {
  const toast = document.querySelector('#toasts .toast:last-child')
  const own = document.importNode(form, true)
  own.dataset.inline = 'Taken back'
  own.addEventListener('submit', () => toast.remove())
  toast?.append(' ', own)
}

// Small forms within a row are sent without leaving the page.
document.addEventListener('submit', async (event) => {
  const { target: form, submitter } = event
  const inline = submitter?.dataset.inline ?? form.dataset.inline
  if (event.defaultPrevented || inline === undefined) return
  event.preventDefault()
  const body = new URLSearchParams(new FormData(form, submitter))
  try {
    const answer = await fetch(submitter?.hasAttribute('formaction') ? submitter.formAction : form.action, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    })
    if (!answer.ok) throw new Error(String(answer.status))
    if (!answer.headers.get('content-type')?.startsWith('text/html')) {
      document.dispatchEvent(new CustomEvent('page:said', { detail: inline }))
      await run()
      return
    }
    const text = await answer.text()
    show(text)
    const said = new DOMParser().parseFromString(text, 'text/html').querySelector('main > .notice')
    const undo = said?.querySelector('form')
    const words = undo ? said.firstChild.textContent : (said?.textContent ?? inline)
    document.dispatchEvent(new CustomEvent('page:said', { detail: words }))
    if (undo) addUndo(undo)
  } catch {
    document.dispatchEvent(new CustomEvent('page:said', { detail: 'That did not work. Load the page again.' }))
  }
})

if (live) listen(live)
if (live || poll) {
  polling = setInterval(run, Number(poll ?? 0) || POLL_MS)
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && (isDue || Date.now() - readAt.getTime() > 5_000)) void run()
  })
  awaitTurn()
}
