import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { generateDocument } from './generate-document';

/** `write-open-api.js [file]`: writes the document to the file, or to standard output. */
async function main(file: string | undefined): Promise<void> {
  const text = `${JSON.stringify(await generateDocument(), null, 2)}\n`;
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text);
}

main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`The OpenAPI document cannot be written. ${String(error)}\n`);
  process.exit(1);
});
