import PDFDocument from 'pdfkit'

/** Creates a tagged document with deterministic bytes: without compression, with the subject's date. */
export function openDocument(
  at: string,
  info: { Title: string; Subject?: string; Keywords: string },
): PDFKit.PDFDocument {
  const date = new Date(at)
  return new PDFDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    bufferPages: true,
    compress: false,
    pdfVersion: '1.7',
    tagged: true,
    displayTitle: true,
    lang: 'en-IN',
    info: { ...info, Creator: 'Signalbox', CreationDate: date, ModDate: date },
  })
}
