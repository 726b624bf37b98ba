// The page of a check and its form: pings in a drawer, times in the selected zone, preview of a schedule while it is
// typed. The pages work without this script.

;(() => {
  const KEY = 'times'
  const choice = document.querySelector('#zone')

  /** `Sat 31 Jan 2026, 10:00:05`, in the chosen zone. */
  function zoned(date, timeZone) {
    return date.toLocaleString('en-GB', {
      timeZone,
      day: '2-digit',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
  }

  function applyZone() {
    if (!choice) return
    const zone = choice.value || Intl.DateTimeFormat().resolvedOptions().timeZone
    for (const time of document.querySelectorAll('time[data-exact]')) {
      const name = time.dataset.exact === 'named' ? ` ${zone}` : ''
      const utc = time.dateTime.slice(0, 19).replace('T', ' ')
      const text = (zone === 'UTC' ? utc : zoned(new Date(time.dateTime), zone)) + name
      if (time.textContent !== text) time.textContent = text
    }
  }

  if (choice) {
    const accountZone = document.documentElement.dataset.zone
    if (accountZone && [...choice.options].every(({ value }) => value !== accountZone))
      choice.append(new Option(accountZone, accountZone))
    const stored = localStorage.getItem(KEY) ?? accountZone ?? null
    if (stored !== null && [...choice.options].some(({ value }) => value === stored)) choice.value = stored
    choice.addEventListener('change', () => {
      localStorage.setItem(KEY, choice.value)
      applyZone()
    })
    document.addEventListener('page:shown', () => {
      if (stored !== null && choice.value === '') choice.value = localStorage.getItem(KEY) ?? ''
      applyZone()
    })
    applyZone()
  }

  let drawer = null

  /**
   * Shows the page of a ping in a drawer over the log. Its links with `data-stays` open in the same drawer.
   * @param {string} [from] `data-stays` of the followed link, which gets the focus again
   */
  async function openDrawer(href, from) {
    const answer = await fetch(href, { credentials: 'same-origin' })
    if (!answer.ok) {
      location.href = href
      return
    }
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    if (!drawer) {
      drawer = document.createElement('dialog')
      drawer.className = 'drawer'
      drawer.setAttribute('aria-label', 'Ping')
      document.body.append(drawer)
      drawer.addEventListener('click', (event) => {
        if (event.target === drawer) drawer.close()
      })
    }
    const close = document.createElement('button')
    close.type = 'button'
    close.className = 'drawer-close'
    close.textContent = 'Close'
    close.addEventListener('click', () => drawer.close())
    const parts = [...page.querySelectorAll('main > :not(#connection, [data-region], .crumb)')]
    drawer.replaceChildren(close, ...parts.map((part) => document.importNode(part, true)))
    for (const button of drawer.querySelectorAll('[data-copy], [data-scripted]')) button.hidden = false
    if (!drawer.open) drawer.showModal()
    if (from) (drawer.querySelector(`[data-stays="${from}"]`) ?? close).focus()
    drawer.scrollTop = 0
    applyZone()
  }

  document.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    const link = event.target instanceof Element ? event.target.closest('a[data-drawer], .drawer a[data-stays]') : null
    if (!link) return
    event.preventDefault()
    void openDrawer(link.href, link.dataset.stays)
  })

  /** Completes the last word of a field. The browser's own completion replaces the whole value. */
  function completeWords(field, list) {
    if (!field || !list) return
    const words = [...list.options].map(({ value }) => value)
    field.addEventListener('input', () => {
      const before = field.value.slice(0, field.value.lastIndexOf(' ') + 1)
      const taken = before.split(' ')
      list.replaceChildren(
        ...words.filter((word) => !taken.includes(word)).map((word) => new Option('', before + word)),
      )
    })
  }

  const form = document.querySelector('.check-form')
  const PREVIEWED = ['kind', 'timeout', 'timeout_unit', 'grace', 'grace_unit', 'schedule', 'tz']
  let typing = 0
  let previews = 0

  async function preview() {
    const mine = ++previews
    const shown = document.querySelector('.preview')
    const data = new FormData(form)
    const query = new URLSearchParams(PREVIEWED.map((name) => [name, String(data.get(name) ?? '')]))
    const answer = await fetch(`${shown.dataset.preview}?${query}`, {
      credentials: 'same-origin',
      headers: { 'x-background-read': 'yes' },
    })
    if (!answer.ok) return
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const fresh = page.querySelector('.preview')
    // Responses may arrive in another order than their requests.
    if (fresh && mine === previews) shown.replaceChildren(...fresh.childNodes)
  }

  if (form) {
    const tz = form.querySelector('#tz')
    if (location.pathname.endsWith('/new') && tz.value === 'UTC' && form.querySelector('#schedule').value === '') {
      tz.value = Intl.DateTimeFormat().resolvedOptions().timeZone
    }
    for (const button of form.querySelectorAll('button[data-sets]')) {
      button.addEventListener('click', () => {
        form.elements[`${button.dataset.sets}_unit`].value = button.dataset.unit
        const field = form.elements[button.dataset.sets]
        field.value = button.value
        field.dispatchEvent(new Event('input', { bubbles: true }))
      })
    }
    completeWords(form.querySelector('#tags'), form.querySelector('datalist[data-words]'))
    form.addEventListener('input', ({ target }) => {
      if (!PREVIEWED.includes(target.name)) return
      clearTimeout(typing)
      typing = setTimeout(() => void preview().catch(() => undefined), 200)
    })
  }
  const wrong = document.querySelector('[aria-invalid=true]')
  wrong?.focus()
})()
