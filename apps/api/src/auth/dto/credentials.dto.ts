import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsEmail, IsNotEmpty, IsOptional, IsString, Length, MaxLength } from 'class-validator';

const trimmed = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value));

/** One spelling for one account. */
const asEmail = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim().toLowerCase() : value,
  );

export class RegisterDto {
  @ApiProperty({ example: 'Example Ltd', minLength: 1, maxLength: 200 })
  @trimmed()
  @IsNotEmpty({ message: 'organizationName must not be blank' })
  @IsString()
  @MaxLength(200)
  organizationName!: string;

  @ApiProperty({ example: 'ada@example.com', format: 'email' })
  @asEmail()
  @IsEmail({}, { message: 'email must be a well-formed e-mail address' })
  @IsString()
  email!: string;

  @ApiProperty({ example: 'correct horse battery staple', minLength: 8, maxLength: 128, format: 'password' })
  @Length(8, 128, { message: 'password must have 8 to 128 characters' })
  @IsString()
  password!: string;

  @ApiPropertyOptional({
    example: 'Ada Lovelace',
    maxLength: 200,
    description: 'left out: the e-mail’s first part',
  })
  @IsOptional()
  @trimmed()
  @IsNotEmpty({ message: 'name must not be blank' })
  @IsString()
  @MaxLength(200)
  name?: string;
}

export class LoginDto {
  @ApiPropertyOptional({
    example: 'example-ltd',
    description: 'needed only by someone whose e-mail and password fit several organizations',
  })
  @IsOptional()
  @trimmed()
  @IsString()
  @MaxLength(200)
  organizationSlug?: string;

  @ApiProperty({ example: 'ada@example.com', format: 'email' })
  @asEmail()
  @IsEmail({}, { message: 'email must be a well-formed e-mail address' })
  @IsString()
  email!: string;

  @ApiProperty({ example: 'correct horse battery staple', format: 'password' })
  @IsNotEmpty({ message: 'password must not be empty' })
  @IsString()
  @MaxLength(1000)
  password!: string;
}

export class RefreshTokenDto {
  @ApiProperty({ example: 'pR3mVd0wX2YkqJ5b7nT9cF1hL4sZ6uA8eG0iK2oM4vQ' })
  @IsNotEmpty({ message: 'refreshToken must not be empty' })
  @IsString()
  @MaxLength(200)
  refreshToken!: string;
}
