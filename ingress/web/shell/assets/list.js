// Keyboard shortcuts, selection count and action menu of the list of checks. The page works without this script.

const boxes = () => [...document.querySelectorAll('input[name=check]')]
const rows = () => [...document.querySelectorAll('.checks tbody tr')]
const search = document.querySelector('#q')

function count() {
  const label = document.querySelector('#bulk-count')
  if (!label) return
  const all = boxes()
  const ticked = all.filter((box) => box.checked).length
  label.textContent = `${ticked} of ${all.length} selected`
  const every = document.querySelector('#select-all')
  if (!every) return
  every.checked = ticked > 0 && ticked === all.length
  every.indeterminate = ticked > 0 && ticked < all.length
}

document.addEventListener('change', ({ target }) => {
  if (target.id === 'select-all') for (const box of boxes()) box.checked = target.checked
  if (target.id === 'select-all' || target.name === 'check') count()
})
document.addEventListener('page:shown', count)

function move(step) {
  const all = rows()
  const at = all.findIndex((row) => row.contains(document.activeElement))
  const row = all[at === -1 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))]
  row?.querySelector('.c-name a').focus()
  row?.scrollIntoView({ block: 'nearest' })
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.matches('input:not([type=checkbox]), textarea, select') || document.querySelector('dialog[open]')) {
    if (event.key === 'Escape' && event.target === search) search.blur()
    return
  }
  if (event.key === '/' && search) {
    event.preventDefault()
    search.focus()
    search.select()
  } else if (event.key === 'j') move(1)
  else if (event.key === 'k') move(-1)
  else if (event.key === 'x') {
    const box = rows()
      .find((row) => row.contains(document.activeElement))
      ?.querySelector('input[name=check]')
    if (box) {
      box.checked = !box.checked
      count()
    }
  }
})

const menu = document.querySelector('#row-menu')

/** Fills the shared menu with the actions of a row, and shows it at the row. */
function openMenu(link) {
  const row = link.closest('tr')
  const path = link.getAttribute('href')
  const uuid = path.slice(path.lastIndexOf('/') + 1)
  const name = row.querySelector('.c-name a').textContent
  const isPaused = row.matches('.is-paused')
  const isMuted = 'muted' in link.dataset
  const hidden = { pause: isPaused, resume: !isPaused, mute: isMuted, unmute: !isMuted }
  for (const item of menu.children) {
    const { does } = item.dataset
    item.setAttribute('aria-label', `${item.textContent} (${name})`)
    item.hidden = hidden[does] ?? false
    if (item.matches('a')) item.href = `${path}/${does}`
    else if (does) item.setAttribute('formaction', `${path}/${does}`)
  }
  const [copy, ping] = menu.children
  copy.base ??= copy.dataset.copy
  const bySlug = copy.dataset.slugs && link.dataset.slug
  copy.dataset.copy = bySlug ? copy.dataset.slugs + link.dataset.slug : copy.base + uuid
  ping.setAttribute('formaction', path.replace(/checks\/(?=[^/]+$)/, 'ping/'))
  menu.showPopover()
  const { bottom, top, right } = link.getBoundingClientRect()
  const { offsetHeight, offsetWidth } = menu
  const isAbove = bottom + offsetHeight > innerHeight && top > offsetHeight
  menu.style.top = `${isAbove ? top - offsetHeight : bottom}px`
  menu.style.left = `${Math.max(0, right - offsetWidth)}px`
  ;[...menu.children].find((item) => !item.hidden).focus()
}

// Without this script the link opens the page of the check, which has the same actions.
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('.row-more') : null
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !menu?.showPopover) return
  event.preventDefault()
  openMenu(link)
})
menu?.addEventListener('click', () => menu.hidePopover())
addEventListener('scroll', () => menu?.matches(':popover-open') && menu.hidePopover(), { capture: true, passive: true })

let typing = 0
search?.addEventListener('input', () => {
  clearTimeout(typing)
  typing = setTimeout(() => search.form.requestSubmit(), 600)
})
if (search && new URL(location.href).searchParams.has('q')) {
  search.focus()
  search.setSelectionRange(search.value.length, search.value.length)
}
count()
