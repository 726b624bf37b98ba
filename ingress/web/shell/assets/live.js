// Keeps an open page current. It loads the page again after an event of the server, when time alone changes a status,
// and after a form in a row was sent. It replaces only changed elements, so that focus, selection and open parts remain. If
// the page cannot be loaded, a bar shows the time of the last success.

const page = document.documentElement
const POLL_MS = 30_000
const RETRY_MS = 2_000
const MAX_WAIT_MS = 10_000
const MISSES_UNTIL_STALE = 2

/** Returns true for attributes that the user or a script changes, not the server. */
function isClientState(element, name) {
  if (name === 'open') return element.localName === 'details'
  return name === 'hidden' && element.matches('[data-copy], [data-scripted]')
}

function morphAttributes(from, to) {
  for (const { name } of [...from.attributes])
    if (!to.hasAttribute(name) && !isClientState(from, name)) from.removeAttribute(name)
  for (const { name, value } of [...to.attributes])
    if (from.getAttribute(name) !== value && !isClientState(from, name)) from.setAttribute(name, value)
}

const isSame = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id ?? '') === (b.id ?? '')

/** Changes `from` so that it equals `to`. Elements with an id are moved, not replaced. */
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

/** Applies the HTML of a newly loaded page to this page. */
function show(text) {
  const fresh = new DOMParser().parseFromString(text, 'text/html')
  // After the first ping of a project the page also changes outside its regions, so the browser loads it as a whole.
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
  // The awaited result has arrived, so polling ends.
  if (poll && fresh.documentElement.dataset.poll === undefined) clearInterval(polling)
  const icon = document.querySelector('link[rel=icon]')
  const wanted = fresh.querySelector('link[rel=icon]')
  if (wanted && icon.href !== wanted.href) icon.href = wanted.href
  document.dispatchEvent(new CustomEvent('page:shown'))
  awaitNextChange()
}

const { live, poll } = page.dataset
let polling = 0
let readAt = new Date()
let misses = 0

const clock = (date) => date.toLocaleTimeString('en-GB')

/** @param {string | null} text reason why the page may be out of date; null if it is current */
function showStale(text, link) {
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
  const answer = await fetch(location.href, {
    credentials: 'same-origin',
    headers: { 'x-background-read': 'yes' },
    signal: AbortSignal.timeout(MAX_WAIT_MS),
  })
  if (answer.redirected && new URL(answer.url).pathname.endsWith('/sign-in')) {
    misses = MISSES_UNTIL_STALE
    showStale('You are signed out.', answer.url)
    return
  }
  if (!answer.ok) throw new Error(String(answer.status))
  const text = await answer.text()
  readAt = new Date()
  misses = 0
  showStale(null)
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
    if (misses >= MISSES_UNTIL_STALE) showStale(`Not connected since ${clock(readAt)}.`)
    clearTimeout(retry)
    retry = setTimeout(run, RETRY_MS)
  } finally {
    isRunning = false
    page.dataset.refreshed = String(Number(page.dataset.refreshed ?? 0) + 1)
    if (isDue) setTimeout(run, 500)
  }
}

let changeTimer = 0

/** Reloads after the next change of status that time alone causes, for example when a check becomes late. */
function awaitNextChange() {
  clearTimeout(changeTimer)
  const changes = [...document.querySelectorAll('[data-next-change]')].map(({ dataset }) =>
    Date.parse(dataset.nextChange),
  )
  const next = Math.min(...changes.filter((at) => at > Date.now()))
  if (next - Date.now() < POLL_MS) changeTimer = setTimeout(run, next - Date.now() + 1_000)
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

/** Adds the undo form of the response to the newest short message. */
function addUndo(form) {
  const toast = document.querySelector('#toasts .toast:last-child')
  const undo = document.importNode(form, true)
  undo.dataset.inline = 'Undone'
  undo.addEventListener('submit', () => toast.remove())
  toast?.append(' ', undo)
}

// Submits the small forms of a row without leaving the page.
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
      document.dispatchEvent(new CustomEvent('page:message', { detail: inline }))
      await run()
      return
    }
    const text = await answer.text()
    show(text)
    const notice = new DOMParser().parseFromString(text, 'text/html').querySelector('main > .notice')
    const undo = notice?.querySelector('form')
    const words = undo ? notice.firstChild.textContent : (notice?.textContent ?? inline)
    document.dispatchEvent(new CustomEvent('page:message', { detail: words }))
    if (undo) addUndo(undo)
  } catch {
    document.dispatchEvent(new CustomEvent('page:message', { detail: 'That did not work. Load the page again.' }))
  }
})

if (live) listen(live)
if (live || poll) {
  polling = setInterval(run, Number(poll ?? 0) || POLL_MS)
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && (isDue || Date.now() - readAt.getTime() > 5_000)) void run()
  })
  awaitNextChange()
}
