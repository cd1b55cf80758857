build/obj/jni/region_file.o: jni/region_file.c jni/jni_util.h \
 /usr/lib/jvm/java-17-openjdk-amd64/include/jni.h \
 /usr/lib/jvm/java-17-openjdk-amd64/include/linux/jni_md.h verbs_api.h
jni/jni_util.h:
/usr/lib/jvm/java-17-openjdk-amd64/include/jni.h:
/usr/lib/jvm/java-17-openjdk-amd64/include/linux/jni_md.h:
verbs_api.h:
