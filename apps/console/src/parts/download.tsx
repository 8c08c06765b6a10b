import type { paths } from '#client/schema';
import { api, serverNow, type ListParameters } from '../api';
import { Action } from '../ui';

interface DownloadProps {
  /** of the file, without its date */
  readonly name: string;
  readonly path: keyof paths;
  /** parameters in the path */
  readonly of?: ListParameters['path'];
  readonly query?: ListParameters['query'];
  readonly label?: string;
  readonly busy?: string;
}

/** All of a list as a file. */
export const Download = ({ name, path, of, query, ...look }: DownloadProps) => (
  <Action
    label="Download as CSV"
    busy="Fetching the file…"
    {...look}
    act={async () => {
      // the parameters differ from path to path; their names are checked where they are given
      const read = api.GET as unknown as (path: string, init: object) => Promise<{ data?: unknown }>;
      const params = { path: of, query: { ...query, format: 'csv' } };
      const { data } = await read(path, { params, parseAs: 'blob' });
      saveAs(name, data as Blob);
    }}
  />
);

/** A link could not carry the access token, so that the file is fetched first. */
function saveAs(name: string, file: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `${name}-${new Date(serverNow()).toISOString().slice(0, 10)}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}
