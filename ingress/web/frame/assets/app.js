// What pages do beyond showing: copying, asking before deleting, times that stay current, and reading themselves
// again when the service says that something changed. Everything works without it.

const page = document.documentElement
const main = document.querySelector('main')

function prepare(root) {
  for (const button of root.querySelectorAll('button[data-copy]')) button.hidden = false
}

document.addEventListener('click', async (event) => {
  const button = event.target instanceof Element ? event.target.closest('button[data-copy]') : null
  if (!button) return
  try {
    await navigator.clipboard.writeText(button.dataset.copy)
  } catch {
    // Without the right to the clipboard, selecting is the next best thing.
    const code = button.parentElement.querySelector('code')
    if (code) getSelection().selectAllChildren(code)
    return
  }
  button.textContent = 'Copied'
  button.classList.add('copied')
  setTimeout(() => {
    button.textContent = 'Copy'
    button.classList.remove('copied')
  }, 1500)
})

document.addEventListener('submit', (event) => {
  const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm
  if (question && !confirm(question)) event.preventDefault()
})

document.addEventListener('change', (event) => {
  if (event.target instanceof Element && event.target.matches('select[data-submit]')) event.target.form.requestSubmit()
})

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    menu.open = false
    menu.querySelector('summary').focus()
  }
})

const units = [
  [86400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
]

function relative(then) {
  const seconds = Math.round((then - Date.now()) / 1000)
  const distance = Math.abs(seconds)
  if (distance < 5) return seconds <= 0 ? 'just now' : 'in a moment'
  const [size, name] = units.find(([unit]) => distance >= unit)
  const count = Math.floor(distance / size)
  const text = `${count} ${name}${count === 1 ? '' : 's'}`
  return seconds < 0 ? `${text} ago` : `in ${text}`
}

function keepTimes() {
  for (const time of document.querySelectorAll('time[data-ago]')) {
    const text = relative(Date.parse(time.dateTime))
    if (time.textContent !== text) time.textContent = text
  }
}

/** Reads the page again and replaces what may have changed, keeping what the person has opened, ticked and focused. */
async function refresh() {
  const answer = await fetch(location.href, { credentials: 'same-origin' })
  if (!answer.ok || answer.redirected) return
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const ticked = new Set([...document.querySelectorAll('input[name=check]:checked')].map((box) => box.value))
  for (const region of document.querySelectorAll('[data-region]')) {
    const replacement = fresh.querySelector(`[data-region="${region.dataset.region}"]`)
    if (!replacement || region.contains(document.activeElement) || region.innerHTML === replacement.innerHTML) continue
    region.replaceChildren(...replacement.childNodes)
  }
  for (const box of document.querySelectorAll('input[name=check]')) if (ticked.has(box.value)) box.checked = true
  document.title = fresh.title
  const icon = document.querySelector('link[rel=icon]')
  icon.href = fresh.querySelector('link[rel=icon]').href
  prepare(main)
}

function watch(address) {
  let isDue = false
  let isRunning = false
  const run = async () => {
    if (isRunning || document.hidden) {
      isDue = true
      return
    }
    isRunning = true
    isDue = false
    try {
      await refresh()
    } finally {
      isRunning = false
      page.dataset.refreshed = String(Number(page.dataset.refreshed ?? 0) + 1)
      if (isDue) setTimeout(() => void run(), 500)
    }
  }
  const events = new EventSource(address)
  events.addEventListener('changed', () => void run())
  events.addEventListener('open', () => {
    page.dataset.watching = 'yes'
  })
  document.addEventListener('visibilitychange', () => {
    if (isDue && !document.hidden) void run()
  })
  // Time alone makes checks late.
  setInterval(() => void run(), 30_000)
  addEventListener('pagehide', () => events.close())
}

prepare(document)
setInterval(keepTimes, 10_000)
if (page.dataset.live) watch(page.dataset.live)
