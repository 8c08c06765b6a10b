import { InvalidServerUrl, parseServerUrl } from '#client';
import { usageFailure } from '../exit-codes';

/** The address of a server as it is stored: without a slash at the end and without `/api/v1`. @throws CommandFailure */
export function serverUrl(given: string, where: string): string {
  try {
    return parseServerUrl(given);
  } catch (error) {
    if (!(error instanceof InvalidServerUrl)) throw error;
    // the text itself is not repeated: it may be a password that was typed at the wrong prompt
    throw usageFailure(`${where} ${error.message}`);
  }
}
