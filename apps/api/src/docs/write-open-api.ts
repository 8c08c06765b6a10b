import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { describedApi } from './described-api';

/** `write-open-api.js [file]`: writes the document, to the standard output without a file. */
async function main(file: string | undefined): Promise<void> {
  const text = `${JSON.stringify(await describedApi(), null, 2)}\n`;
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text);
}

main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`The OpenAPI document cannot be written. ${String(error)}\n`);
  process.exit(1);
});
