import { serverNow } from '../api';

/** Saves a fetched CSV file. A link could not carry the access token, so that the file is fetched first. */
export function saveAs(name: string, data: unknown): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(data as Blob);
  link.download = `${name}-${new Date(serverNow()).toISOString().slice(0, 10)}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}
