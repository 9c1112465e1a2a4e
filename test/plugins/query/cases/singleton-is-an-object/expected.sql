select row_to_json(r.*)::text as data from (select t1."id" as "id", t1."title" as "title" from "public"."config" t1 order by t1."id" limit 1) r
-- []
