import type { CloudError } from '../cloud-error';
import { awsError, invalidValue } from './aws-error';

export const listNotFound = (listId: string): CloudError =>
  awsError('InvalidPrefixListID.NotFound', `The prefix list ID '${listId}' does not exist`);

export const listMalformed = (listId: string): CloudError =>
  awsError('InvalidPrefixListId.Malformed', `Invalid id: "${listId}" (expecting "pl-...")`);

export const versionMismatch = (): CloudError =>
  awsError('PrefixListVersionMismatch', 'The prefix list has the incorrect version number.');

export const listInState = (listId: string, state: string): CloudError =>
  awsError(
    'IncorrectState',
    `The request cannot be completed while the prefix list (${listId}) is in the current state (${state}).`,
  );

export const tooManyEntries = (maxEntries: number): CloudError =>
  awsError(
    'PrefixListMaxEntriesExceeded',
    `You've reached the maximum number of entries for the prefix list (${maxEntries}).`,
  );

export const tooManyChanges = (limit: number): CloudError =>
  invalidValue(`The request cannot contain more than ${limit} entry additions or removals.`);

export const entryExists = (cidr: string, description: string | undefined): CloudError =>
  awsError(
    'InvalidPrefixListModification',
    `An entry with the CIDR (${cidr}) and description (${description ?? ''}) already exists.`,
  );

export const entryMissing = (cidr: string): CloudError =>
  awsError('InvalidPrefixListModification', `The entry with the CIDR (${cidr}) does not exist.`);

export const managedByAws = (listId: string): CloudError =>
  awsError(
    'UnsupportedOperation',
    `The prefix list ${listId} is an AWS-managed prefix list and cannot be modified.`,
  );
