import { getMetadataStorage } from 'class-validator';
import type { ConfigFieldDto } from './dto/provider-types.dto';
import { ResourceConfigDto } from './dto/resource.dto';

export type ConfigLimits = Pick<
  ConfigFieldDto,
  'required' | 'words' | 'minimum' | 'maximum' | 'mostItems' | 'choices' | 'pattern' | 'flags'
>;

/**
 * What a field of `config` is held to, read from what checks it.
 * @throws Error for a field that `config` does not have
 */
export function configLimits(field: string): ConfigLimits {
  const rules = getMetadataStorage()
    .getTargetValidationMetadatas(ResourceConfigDto, '', false, false)
    .filter(({ propertyName }) => propertyName === field);
  if (rules.length === 0) throw new Error(`config has no field ${field}`);
  const given = (name: string): unknown => rules.find((rule) => rule.name === name)?.constraints?.[0];
  const minimum = given('min') as number | undefined;
  const maximum = given('max') as number | undefined;
  const mostItems = given('arrayMaxSize') as number | undefined;
  const form = given('matches') as RegExp | undefined;
  const choices = given('isIn') as readonly string[] | undefined;
  return {
    required: rules.every(({ name }) => name !== 'isOptional'),
    words: [...new Set(rules.flatMap(({ message }) => (typeof message === 'string' ? [message] : [])))],
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(mostItems !== undefined && { mostItems }),
    ...(form && { pattern: form.source, flags: form.flags }),
    ...(choices && { choices: [...choices] }),
  };
}
