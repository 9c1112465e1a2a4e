select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."page" t1 where (t1."cover" = any($1::uuid[])) order by t1."position", t1."id" limit 100) r
-- [["aaaaaaaa-0000-4000-8000-000000000002"]]
