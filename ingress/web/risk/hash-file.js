// Computes the SHA-256 of a chosen or dropped file in this browser. The file is not sent.
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

async function hashInto(zone, file) {
  const input = zone.querySelector('input')
  const status = zone.querySelector('[role="status"]')
  const set = (name, value) => {
    const field = input.form.elements.namedItem(name)
    if (field) field.value = value
  }
  status.textContent = `Hashing ${file.name}…`
  try {
    const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer())
    // Another file was chosen meanwhile.
    if (input.files[0] !== file) return
    set(zone.dataset.hashOf, hex(new Uint8Array(digest)))
    set('sizeBytes', String(file.size))
    set('mediaType', file.type)
    status.textContent = `Hash of ${file.name}. The file stays on this device.`
  } catch {
    status.textContent = `${file.name} cannot be read here. Compute its hash with sha256sum and paste it.`
  }
}

for (const zone of document.querySelectorAll('[data-hash-of]')) {
  // Browsers offer crypto.subtle only with HTTPS or on localhost.
  if (!globalThis.crypto?.subtle) break
  zone.hidden = false
  const input = zone.querySelector('input')
  const hashChosen = () => {
    const [file] = input.files
    if (file) void hashInto(zone, file)
  }
  input.addEventListener('change', hashChosen)
  // Browsers may restore the chosen file of a reloaded page, before this script runs.
  hashChosen()
  for (const name of ['dragenter', 'dragover']) {
    zone.addEventListener(name, (event) => {
      event.preventDefault()
      zone.classList.add('is-over')
    })
  }
  zone.addEventListener('dragleave', () => zone.classList.remove('is-over'))
  zone.addEventListener('drop', (event) => {
    event.preventDefault()
    zone.classList.remove('is-over')
    const [file] = event.dataTransfer.files
    if (!file) return
    input.files = event.dataTransfer.files
    void hashInto(zone, file)
  })
}
