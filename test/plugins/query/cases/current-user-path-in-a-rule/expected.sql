select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."article" t1 where (t1."topic" = any(array(select t3."name" from "public"."platform_users" t2 join "public"."skill" t3 on (t3."person" = t2."id") where (t2."id" = $1::uuid))::text[])) order by t1."id" limit 100) r
-- [{"runtimeValue":{"dynamic":"user"}}]
