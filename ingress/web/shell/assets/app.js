// Copy buttons, confirmation dialogs, relative times and short messages. The pages work without this script.

function prepare() {
  for (const element of document.querySelectorAll('button[data-copy], [data-scripted]')) element.hidden = false
}

const toasts = document.querySelector('#toasts')

/** Shows a message in the corner for six seconds. Its container is a live region for screen readers. */
function toast(text) {
  const line = document.createElement('p')
  line.className = 'toast'
  line.textContent = text
  toasts.append(line)
  setTimeout(() => line.remove(), 6_000)
}

document.addEventListener('page:message', ({ detail }) => {
  if (detail) toast(detail)
})
document.addEventListener('page:shown', prepare)

/** Copies without the clipboard API, which browsers offer only on https and localhost. */
function copyByCommand(text) {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'hidden'
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  return isCopied
}

document.addEventListener('click', async (event) => {
  const button = event.target instanceof Element ? event.target.closest('button[data-copy]') : null
  if (!button) return
  const text = button.dataset.copy
  const isCopied = navigator.clipboard
    ? await navigator.clipboard.writeText(text).then(
        () => true,
        () => copyByCommand(text),
      )
    : copyByCommand(text)
  button.focus()
  if (!isCopied) {
    const code = button.parentElement.querySelector('code')
    if (code) getSelection().selectAllChildren(code)
    toast('Selected: press Ctrl+C')
    return
  }
  toast('Copied')
  button.classList.add('copied')
  setTimeout(() => button.classList.remove('copied'), 1500)
})

/** Shows the confirmation dialog, and submits the form after a yes. */
function confirmSubmit(question, form, submitter) {
  const dialog = document.querySelector('#question')
  dialog.querySelector('p').textContent = question
  const yes = dialog.querySelector('[value=yes]')
  yes.textContent = submitter?.dataset.yes ?? form.dataset.yes ?? 'Yes'
  dialog.onclose = () => {
    if (dialog.returnValue !== 'yes') return
    form.dataset.confirmed = 'yes'
    form.requestSubmit(submitter)
    delete form.dataset.confirmed
  }
  dialog.returnValue = ''
  dialog.showModal()
  // Enter must not confirm.
  dialog.querySelector('[value=""]').focus()
}

/** Replaces `{selected}` in a question by the number and names of the selected checks. */
function withSelection(question) {
  if (!question.includes('{selected}')) return question
  const rows = [...document.querySelectorAll('input[name=check]:checked')].map((box) =>
    box.ariaLabel.slice('Select '.length),
  )
  const names = rows.slice(0, 5).join(', ') + (rows.length > 5 ? ` and ${rows.length - 5} more` : '')
  return question.replace('{selected}', `${rows.length} ${rows.length === 1 ? 'check' : 'checks'} (${names})`)
}

document.addEventListener(
  'submit',
  (event) => {
    const { target: form, submitter } = event
    const question = submitter?.dataset.confirm ?? form.dataset.confirm
    if (!question) return
    if (form.dataset.confirmed !== 'yes') {
      event.preventDefault()
      confirmSubmit(withSelection(question), form, submitter)
      return
    }
    const confirmed = form.querySelector('input[name=_confirmed]') ?? document.createElement('input')
    Object.assign(confirmed, { type: 'hidden', name: '_confirmed', value: 'yes' })
    form.append(confirmed)
  },
  true,
)

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

document.addEventListener('click', (event) => {
  for (const menu of document.querySelectorAll('details.menu[open]'))
    if (!menu.contains(event.target)) menu.open = false
})

// Reads a dropped or selected file into a text field, so that the user can review it before submitting.
async function readInto(zone, file) {
  if (!file) return
  const field = document.getElementById(zone.dataset.drop)
  field.value = await file.text()
  toast(`${file.name} is in the field below`)
  field.focus()
}

for (const zone of document.querySelectorAll('[data-drop]')) {
  for (const name of ['dragenter', 'dragover'])
    zone.addEventListener(name, (event) => {
      event.preventDefault()
      zone.classList.add('is-over')
    })
  zone.addEventListener('dragleave', () => zone.classList.remove('is-over'))
  zone.addEventListener('drop', (event) => {
    event.preventDefault()
    zone.classList.remove('is-over')
    void readInto(zone, event.dataTransfer.files[0])
  })
  const input = zone.querySelector('input[type=file]')
  input.addEventListener('change', () => void readInto(zone, input.files[0]))
  // Browsers may restore the chosen file of a reloaded page, before this script runs, and then the edited text as well.
  if (document.getElementById(zone.dataset.drop).value === '') void readInto(zone, input.files[0])
}

// Filters a long list by the typed text, and hides groups without a match.
for (const field of document.querySelectorAll('input[data-filters]')) {
  field.addEventListener('input', () => {
    const wanted = field.value.trim().toLowerCase()
    for (const group of document.querySelectorAll(`.${field.dataset.filters}`)) {
      const items = [...group.querySelectorAll('li')]
      for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted)
      group.hidden = items.every((item) => item.hidden)
    }
  })
}

// Inserts a placeholder into the text field that had the focus last.
let lastField = null
document.addEventListener('focusin', ({ target }) => {
  if (target.matches('textarea, input[type=text]')) lastField = target
})
for (const button of document.querySelectorAll('button[data-inserts]')) {
  button.addEventListener('click', () => {
    const field = lastField?.form === button.form ? lastField : document.getElementById(button.dataset.into)
    field.focus()
    field.setRangeText(button.dataset.inserts, field.selectionStart, field.selectionEnd, 'end')
  })
}

const units = [
  [86400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]

function distanceOf(then, isLong = false) {
  const seconds = Math.abs(Math.round((then - Date.now()) / 1000))
  const found = units.findIndex(([unit]) => seconds >= unit)
  const index = found === -1 ? 3 : found
  const [size, name] = units[index]
  const text = `${Math.floor(seconds / size)} ${name}`
  if (!isLong || size < 3600) return text
  const [smaller, smallerName] = units[index + 1]
  const rest = Math.floor((seconds % size) / smaller)
  return rest === 0 ? text : `${text} ${rest} ${smallerName}`
}

function relative(then) {
  const seconds = Math.round((then - Date.now()) / 1000)
  if (Math.abs(seconds) < 5) return seconds <= 0 ? 'just now' : 'in a moment'
  return seconds < 0 ? `${distanceOf(then)} ago` : `in ${distanceOf(then)}`
}

function updateTimes() {
  for (const time of document.querySelectorAll('[data-ago], [data-for]')) {
    const then = Date.parse(time.dateTime ?? time.title.replace(' ', 'T').replace(' UTC', 'Z'))
    const before = time.textContent
    // The text may begin with a status, which remains.
    const text = time.matches('[data-for="2"]')
      ? distanceOf(then, true)
      : time.matches('[data-for]')
        ? before.replace(/\d+ \w+$/, distanceOf(then))
        : relative(then)
    if (before !== text) time.textContent = text
  }
}

// Updates the timeline of a policy while its form is edited, by the same request as adding a step.
const planned = document.querySelector('#plan-preview')
let planTyping = 0
planned?.closest('form').addEventListener('input', ({ currentTarget: form }) => {
  clearTimeout(planTyping)
  const current = setTimeout(async () => {
    const body = new URLSearchParams([...new FormData(form), ['do', 'draft']])
    const answer = await fetch(form.action, { method: 'POST', body }).catch(() => null)
    if (!answer?.ok || current !== planTyping) return
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    planned.replaceChildren(...page.querySelector('#plan-preview').childNodes)
  }, 300)
  planTyping = current
})

// Exact times are in the time zone of the account or of the check, unless the page offers a choice.
function showZone() {
  const { zone } = document.documentElement.dataset
  if (!zone || document.querySelector('#zone')) return
  for (const time of document.querySelectorAll('time[data-exact]')) {
    const text = new Date(time.dateTime).toLocaleString('en-GB', {
      timeZone: zone,
      dateStyle: 'medium',
      timeStyle: 'medium',
    })
    time.textContent = time.dataset.exact === 'named' ? `${text} ${zone}` : text
  }
  for (const name of document.querySelectorAll('[data-zone-name]')) name.textContent = zone
}

// Removes `done` from the address, so that a reload does not show its message again.
const here = new URL(location.href)
if (here.searchParams.has('done')) {
  here.searchParams.delete('done')
  history.replaceState(null, '', here)
}

// Focuses the first invalid field of a refused form.
document.querySelector('[aria-invalid=true]')?.focus()

prepare()
showZone()
setInterval(updateTimes, 1_000)
