import { cloudAccount, readAccounts, type CloudAccount } from '../cloud-accounts';
import { isRecord } from '../untrusted-json';
import { unexpectedResponse } from './gcp-errors';

const PROJECT = /^[a-z0-9.:-]{1,100}$/;

/**
 * The projects that an identity may see, in any order; new ones appear late.
 * @param search reads a page, the first one without a token
 */
export const listProjects = (
  search: (pageToken: string | null) => Promise<Readonly<Record<string, unknown>>>,
): Promise<CloudAccount[]> =>
  readAccounts('Google', PROJECT, async (token) => {
    const { projects = [], nextPageToken: next } = await search(token);
    if (!Array.isArray(projects) || !projects.every(isRecord)) throw unexpectedResponse('projects.search');
    return {
      accounts: projects.map(({ projectId, displayName, state }) =>
        cloudAccount(projectId, displayName, state),
      ),
      next: typeof next === 'string' && next !== '' ? next : null,
    };
  });
