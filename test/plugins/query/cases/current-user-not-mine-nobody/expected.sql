select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."article" t1 where (not exists (select 1 from "public"."remark" t2 where t2."article" = t1."id" and t2."writer" = $1::uuid) and $2::uuid is not null) order by t1."id" limit 100) r
-- [{"runtimeValue":{"dynamic":"user"}},{"runtimeValue":{"dynamic":"user"}}]
