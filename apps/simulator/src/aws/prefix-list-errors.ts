import { AwsError, invalidValue } from './aws-error';

export const listNotFound = (listId: string): AwsError =>
  new AwsError('InvalidPrefixListID.NotFound', `The prefix list ID '${listId}' does not exist`);

export const listMalformed = (listId: string): AwsError =>
  new AwsError('InvalidPrefixListId.Malformed', `Invalid id: "${listId}" (expecting "pl-...")`);

export const versionMismatch = (): AwsError =>
  new AwsError('PrefixListVersionMismatch', 'The prefix list has the incorrect version number.');

export const listInState = (listId: string, state: string): AwsError =>
  new AwsError(
    'IncorrectState',
    `The request cannot be completed while the prefix list (${listId}) is in the current state (${state}).`,
  );

export const tooManyEntries = (maxEntries: number): AwsError =>
  new AwsError(
    'PrefixListMaxEntriesExceeded',
    `You've reached the maximum number of entries for the prefix list (${maxEntries}).`,
  );

export const tooManyChanges = (limit: number): AwsError =>
  invalidValue(`The request cannot contain more than ${limit} entry additions or removals.`);

export const entryExists = (cidr: string, description: string | undefined): AwsError =>
  new AwsError(
    'InvalidPrefixListModification',
    `An entry with the CIDR (${cidr}) and description (${description ?? ''}) already exists.`,
  );

export const entryMissing = (cidr: string): AwsError =>
  new AwsError('InvalidPrefixListModification', `The entry with the CIDR (${cidr}) does not exist.`);

export const managedByAws = (listId: string): AwsError =>
  new AwsError(
    'UnsupportedOperation',
    `The prefix list ${listId} is an AWS-managed prefix list and cannot be modified.`,
  );
