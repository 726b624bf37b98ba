// What pages do beyond showing: copying, asking before something is lost, times that stay current, short messages.
// Everything works without it.

function prepare() {
  for (const element of document.querySelectorAll('button[data-copy], [data-scripted]')) element.hidden = false
}

const toasts = document.querySelector('#toasts')

/** A short message in the corner, which screen readers say and which goes by itself. */
function toast(text) {
  const line = document.createElement('p')
  line.className = 'toast'
  line.textContent = text
  toasts.append(line)
  setTimeout(() => line.remove(), 6_000)
}

document.addEventListener('page:said', ({ detail }) => {
  if (detail) toast(detail)
})
document.addEventListener('page:shown', prepare)

/** Without the clipboard, which browsers give only to https and localhost, the old command still copies. */
function copyOldWay(text) {
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
        () => copyOldWay(text),
      )
    : copyOldWay(text)
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

/** Names what is lost. The form that was about to be sent is sent once the person says so. */
function ask(question, form, submitter) {
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

/** `{selected}` in a question stands for what is ticked. */
function filled(question) {
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
      ask(filled(question), form, submitter)
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

// A file that is dropped or chosen is read into the field that the form sends: it can be looked at first.
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
  zone
    .querySelector('input[type=file]')
    .addEventListener('change', ({ target }) => void readInto(zone, target.files[0]))
}

// What is typed leaves those of a long choice that hold it; a group without any of them goes too.
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

// A placeholder is put where one was typing last.
let typedIn = null
document.addEventListener('focusin', ({ target }) => {
  if (target.matches('textarea, input[type=text]')) typedIn = target
})
for (const button of document.querySelectorAll('button[data-inserts]')) {
  button.addEventListener('click', () => {
    const field = typedIn?.form === button.form ? typedIn : document.getElementById(button.dataset.into)
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

function distanceOf(then) {
  const seconds = Math.abs(Math.round((then - Date.now()) / 1000))
  const [size, name] = units.find(([unit]) => seconds >= unit) ?? units[3]
  return `${Math.floor(seconds / size)} ${name}`
}

function relative(then) {
  const seconds = Math.round((then - Date.now()) / 1000)
  if (Math.abs(seconds) < 5) return seconds <= 0 ? 'just now' : 'in a moment'
  return seconds < 0 ? `${distanceOf(then)} ago` : `in ${distanceOf(then)}`
}

function keepTimes() {
  for (const time of document.querySelectorAll('[data-ago], [data-for]')) {
    const then = Date.parse(time.dateTime ?? time.title.replace(' ', 'T').replace(' UTC', 'Z'))
    const before = time.textContent
    // A status may precede the distance.
    const text = time.matches('[data-for]') ? before.replace(/\d+ \w+$/, distanceOf(then)) : relative(then)
    if (before !== text) time.textContent = text
  }
}

// The timeline of a policy follows its form, which the server reads as when a step is added.
const planned = document.querySelector('#plan-preview')
let planTyping = 0
planned?.closest('form').addEventListener('input', ({ currentTarget: form }) => {
  clearTimeout(planTyping)
  const mine = setTimeout(async () => {
    const body = new URLSearchParams([...new FormData(form), ['do', 'draft']])
    const answer = await fetch(form.action, { method: 'POST', body }).catch(() => null)
    if (!answer?.ok || mine !== planTyping) return
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    planned.replaceChildren(...page.querySelector('#plan-preview').childNodes)
  }, 300)
  planTyping = mine
})

// Exact times are in the time zone of the account, unless the page offers a choice.
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
}

// What was said once is not said again when the page is loaded anew.
const here = new URL(location.href)
if (here.searchParams.has('done')) {
  here.searchParams.delete('done')
  history.replaceState(null, '', here)
}

// Who sent a form with a mistake goes on where the first one is.
document.querySelector('[aria-invalid=true]')?.focus()

prepare()
showZone()
setInterval(keepTimes, 1_000)
