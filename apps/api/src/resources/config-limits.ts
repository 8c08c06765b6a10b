import { getMetadataStorage, ValidationTypes } from 'class-validator';
import type { ConfigFieldDto } from './dto/provider-types.dto';
import { ResourceConfigDto } from './dto/resource-config.dto';

export type ConfigLimits = Pick<
  ConfigFieldDto,
  'required' | 'words' | 'minimum' | 'maximum' | 'mostItems' | 'choices' | 'pattern' | 'flags'
>;

/**
 * The limits of a `config` field, read from its class-validator metadata.
 * @throws Error for a field that `config` does not have
 */
export function configLimits(field: string): ConfigLimits {
  const rules = getMetadataStorage()
    .getTargetValidationMetadatas(ResourceConfigDto, '', false, false)
    .filter(({ propertyName }) => propertyName === field);
  if (rules.length === 0) throw new Error(`config has no field ${field}`);
  const constraint = (name: string): unknown => rules.find((rule) => rule.name === name)?.constraints?.[0];
  const minimum = constraint('min') as number | undefined;
  const maximum = constraint('max') as number | undefined;
  const mostItems = constraint('arrayMaxSize') as number | undefined;
  const pattern = constraint('matches') as RegExp | undefined;
  const choices = constraint('isIn') as readonly string[] | undefined;
  return {
    required: rules.every(({ type }) => type !== ValidationTypes.CONDITIONAL_VALIDATION),
    words: [...new Set(rules.flatMap(({ message }) => (typeof message === 'string' ? [message] : [])))],
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(mostItems !== undefined && { mostItems }),
    ...(pattern && { pattern: pattern.source, flags: pattern.flags }),
    ...(choices && { choices: [...choices] }),
  };
}
