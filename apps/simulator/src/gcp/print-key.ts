import { KEY_FILE } from './service-account';

process.stdout.write(`${JSON.stringify(KEY_FILE, null, 2)}\n`);
