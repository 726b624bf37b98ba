// The form of the verification page: reads the chosen file in this browser and reports on it. Only values that can be
// recomputed from the file itself are trusted.

import { verifyPdf, verifyText } from './verify-file.js'
import { checkLog } from './verify-log.js'
import { verifyPackage } from './verify-package.js'
import { clear, conclude, line, report } from './verify-report.js'
import { MAX_ZIP_BYTES } from './verify-zip.js'

const form = document.querySelector('form[data-verify]')

async function verifyFile(file) {
  const start = await file.slice(0, 5).text()
  if (start.startsWith('PK') && file.size > MAX_ZIP_BYTES)
    return line('open', `The ZIP file is larger than ${MAX_ZIP_BYTES / 1024 ** 2} MiB. Verify it offline, as below.`)
  const bytes = new Uint8Array(await file.arrayBuffer())
  if (start === '%PDF-') await verifyPdf(bytes)
  else if (start.startsWith('PK')) await verifyPackage(bytes)
  else await verifyText(new TextDecoder().decode(bytes), file.name)
}

let last = Promise.resolve()

/**
 * Starts a verification after the previous one, because both write into the same report.
 * @param result used if no step fails or stays open
 */
function run(result, work) {
  last = last.then(() => verify(result, work))
}

async function verify(result, work) {
  clear(result)
  try {
    await work()
  } catch {
    line('open', 'The check could not be finished: the service did not respond as expected.')
  }
  conclude()
}

if (form && report) {
  if (globalThis.crypto?.subtle) {
    form.hidden = false
    const zone = form.querySelector('.drop-zone')
    for (const name of ['dragenter', 'dragover'])
      zone.addEventListener(name, (event) => {
        event.preventDefault()
        zone.classList.add('is-over')
      })
    zone.addEventListener('dragleave', () => zone.classList.remove('is-over'))
    zone.addEventListener('drop', (event) => {
      event.preventDefault()
      zone.classList.remove('is-over')
      if (event.dataTransfer.files.length === 0) return
      form.elements.file.files = event.dataTransfer.files
      form.requestSubmit()
    })
    form.elements.file.addEventListener('change', () => form.requestSubmit())
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      const [file] = form.elements.file.files
      run('verified', async () => {
        if (!file) return await verifyText(form.elements.pack.value)
        await verifyFile(file)
      })
    })
    const { txId } = report.dataset
    // Browsers may restore the chosen file of a reloaded page, before this script runs.
    if (form.elements.file.files.length > 0) form.requestSubmit()
    else if (txId) {
      run('included', async () => {
        await checkLog(txId)
        const hint = document.createElement('p')
        hint.textContent = 'The log contains this entry. To verify a file too, choose it below or paste its JSON.'
        report.append(hint)
      })
    }
  } else document.querySelector('[data-insecure]').hidden = false
}
