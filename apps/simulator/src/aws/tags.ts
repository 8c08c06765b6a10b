import { awsError, invalidValue } from './aws-error';
import type { QueryForm } from './query-form';

export interface Tag {
  readonly key: string;
  readonly value: string;
}

const MAX_TAGS = 50;

/** Reads the tags for the rules that a request creates. @throws CloudError */
export function readRuleTags(form: QueryForm): Tag[] {
  return form.list('TagSpecification').flatMap((specification) => {
    const type = specification.text('ResourceType') ?? '';
    if (type !== 'security-group-rule') {
      throw invalidValue(`'${type}' is not a valid taggable resource type for this operation.`);
    }
    const tags = specification
      .list('Tag')
      .map((tag) => ({ key: tag.text('Key') ?? '', value: tag.text('Value') ?? '' }));
    checkTags(tags);
    return tags;
  });
}

function checkTags(tags: readonly Tag[]): void {
  if (tags.length > MAX_TAGS) throw awsError('TagLimitExceeded', `More than ${MAX_TAGS} tags specified`);
  for (const { key, value } of tags) {
    if (key === '') throw invalidValue('Tag key cannot be null or empty.');
    if (key.length > 128) throw invalidValue('Tag key exceeds the maximum length of 128 characters');
    if (value.length > 256) throw invalidValue('Tag value exceeds the maximum length of 256 characters');
    if (key.toLowerCase().startsWith('aws:')) {
      throw invalidValue("Tag keys starting with 'aws:' are reserved for internal use");
    }
  }
  if (new Set(tags.map(({ key }) => key)).size < tags.length) {
    throw invalidValue('Duplicate tag keys found.');
  }
}
