import { Param, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';

const lowerCase: PipeTransform<string, string> = { transform: (account) => account.toLowerCase() };

/** Handler parameter: an account in the path, in the one spelling that is stored. */
export const AccountParam = (): ParameterDecorator => (target, method, index) => {
  Param('account', lowerCase)(target, method, index);
  const handler = method !== undefined && Object.getOwnPropertyDescriptor(target, method);
  const schema = { type: 'string', example: '123456789012' } as const;
  if (handler) ApiParam({ name: 'account', schema })(target, method, handler);
};
